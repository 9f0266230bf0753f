// What an example shows: a photo, a frame of a video, or a box in one of them. What several examples show is decoded
// once.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/media_fragment.h"
#include "annulus/vision/image/image.h"

namespace annulus {

class SharedPhoto;
class SharedVideo;

// An example whose file was read. Used by one thread.
class ExampleImage {
 public:
  // SHA-256 of what is shown, in hexadecimal digits: of the file's bytes, and of the moment and the box
  // where it is a part of them.
  const std::string& sha256() const { return sha256_; }
  // Decodes what is not decoded yet. `margin` is added around a box (pixels_of). Throws Error{kFormat} for a damaged
  // file and Error{kInput} for a box outside of its picture.
  Image image(double margin = 0) const;

 private:
  friend class ExampleImages;
  std::string path_;
  MediaFragment fragment_;
  std::shared_ptr<SharedPhoto> photo_;  // one of the two
  std::shared_ptr<SharedVideo> video_;
  std::string sha256_;
};

// Opens examples; several threads may do so at once. Keeps the photos of boxes that were opened last, up to 256 MB of
// pixels and 64 of them, so that the boxes of one photo, one after the other, cost one decoding; and the last four
// videos, so that frames in the order of time cost one pass. One thread at a time reads a video.
class ExampleImages {
 public:
  explicit ExampleImages(const DecodeOptions& options) : options_(options) {}

  // `path` is a file or a part of one (parse_media_fragment). Throws as load_image_bytes does.
  ExampleImage open(const std::string& path);

 private:
  std::shared_ptr<SharedPhoto> shared_photo(const std::string& file);
  std::shared_ptr<SharedVideo> shared_video(const std::string& file);

  DecodeOptions options_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<SharedPhoto>> photos_;  // the latest last; guarded by mutex_
  std::deque<std::shared_ptr<SharedVideo>> videos_;  // likewise
};

}  // namespace annulus
