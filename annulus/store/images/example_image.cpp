// Reads files, shares those that several examples show, and cuts boxes out.
#include "annulus/store/images/example_image.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/images/image_file.h"
#include "annulus/store/images/video_frames.h"
#include "annulus/vision/image/crop.h"

namespace annulus {

// The bytes of a file, its checksum and its pixels, each computed when it is asked for first.
class SharedPhoto {
 public:
  SharedPhoto(std::string file, const DecodeOptions& options) : file_(std::move(file)), options_(options) {}

  const std::string& file() const { return file_; }
  std::size_t pixel_bytes() const { return pixel_bytes_; }

  const std::string& sha256() {
    const std::lock_guard lock(mutex_);
    if (sha256_.empty()) {
      bytes_ = load_image_bytes(file_, options_.limits.max_bytes);
      sha256_ = sha256_hex(bytes_);
    }
    return sha256_;
  }

  // After sha256(). The image stays valid as long as this.
  const Image& image() {
    const std::lock_guard lock(mutex_);
    if (!image_) {
      image_ = decode_image(bytes_, options_, file_);
      bytes_ = {};
      pixel_bytes_ = 3 * image_->width * image_->height;
    }
    return *image_;
  }

  // The same for the only user, who may keep the pixels.
  Image take_image() {
    const std::lock_guard lock(mutex_);
    return decode_image(bytes_, options_, file_);
  }

 private:
  std::string file_;
  DecodeOptions options_;
  std::mutex mutex_;
  std::vector<std::byte> bytes_;  // until they are decoded
  std::string sha256_;
  std::optional<Image> image_;
  std::atomic<std::size_t> pixel_bytes_{0};
};

// A video file, opened when a frame is asked for first.
class SharedVideo {
 public:
  explicit SharedVideo(std::string file) : file_(std::move(file)) {}

  const std::string& file() const { return file_; }

  const std::string& sha256() {
    const std::lock_guard lock(mutex_);
    if (sha256_.empty()) sha256_ = file_sha256(file_);
    return sha256_;
  }

  Image frame(double seconds) {
    const std::lock_guard lock(mutex_);
    if (!video_) video_ = open_video(file_);
    return video_->at(seconds);
  }

 private:
  std::string file_;
  std::mutex mutex_;
  std::string sha256_;
  std::unique_ptr<VideoReader> video_;
};

Image ExampleImage::image(double margin) const {
  const auto cut = [&](const Image& whole) {
    return crop_image(whole, pixels_of(*fragment_.box, whole.width, whole.height, margin, path_));
  };
  if (video_) {
    Image frame = video_->frame(*fragment_.seconds);
    return fragment_.box ? cut(frame) : std::move(frame);
  }
  return fragment_.box ? cut(photo_->image()) : photo_->take_image();
}

ExampleImage ExampleImages::open(const std::string& path) {
  ExampleImage example;
  example.path_ = path;
  example.fragment_ = parse_media_fragment(path);
  const MediaFragment& fragment = example.fragment_;
  if (fragment.seconds) {
    example.video_ = shared_video(fragment.file);
    example.sha256_ = example.video_->sha256();
  } else {
    example.photo_ = fragment.box ? shared_photo(fragment.file) : std::make_shared<SharedPhoto>(path, options_);
    example.sha256_ = example.photo_->sha256();
  }
  if (!fragment.whole()) {
    const std::string shown = example.sha256_ + to_text({"", fragment.seconds, fragment.box});
    example.sha256_ = sha256_hex(std::as_bytes(std::span(shown)));
  }
  return example;
}

namespace {

// The one of that file, which becomes the latest; null where there is none.
template <class Shared>
std::shared_ptr<Shared> find_shared(std::deque<std::shared_ptr<Shared>>& kept, const std::string& file) {
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& each) { return each->file() == file; });
  if (found == kept.end()) return nullptr;
  std::rotate(found, std::next(found), kept.end());
  return kept.back();
}

}  // namespace

std::shared_ptr<SharedVideo> ExampleImages::shared_video(const std::string& file) {
  constexpr std::size_t kMostVideos = 4;
  const std::lock_guard lock(mutex_);
  if (auto known = find_shared(videos_, file)) return known;
  if (videos_.size() == kMostVideos) videos_.pop_front();
  return videos_.emplace_back(std::make_shared<SharedVideo>(file));
}

std::shared_ptr<SharedPhoto> ExampleImages::shared_photo(const std::string& file) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  constexpr std::size_t kMostPhotos = 64;
  const std::lock_guard lock(mutex_);
  if (auto known = find_shared(photos_, file)) return known;
  photos_.push_back(std::make_shared<SharedPhoto>(file, options_));
  std::size_t bytes = 0;
  for (const auto& photo : photos_) bytes += photo->pixel_bytes();
  while (photos_.size() > 1 && (bytes > kMostBytes || photos_.size() > kMostPhotos)) {
    bytes -= std::min(bytes, photos_.front()->pixel_bytes());
    photos_.pop_front();
  }
  return photos_.back();
}

}  // namespace annulus
