// Frames of a video, one after the other or at a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/vision/image/image.h"

namespace annulus {

// Where the bytes of a video are: `read` fills as much of the span as there is from an offset, and gives the number of
// bytes; 0 at the end.
struct VideoBytes {
  std::function<std::size_t(std::uint64_t offset, std::span<std::byte> out)> read;
  std::uint64_t size = 0;
};

// What no video may exceed.
struct VideoLimits {
  std::size_t max_pixels = 40'000'000;   // of a frame: 8K has 33 million
  std::size_t max_packets = 10'000'000;  // 24 hours at 100 frames a second
  std::size_t most_lost = 2'000;         // packets one after the other that give no frame
  double most_seconds = 20;              // of work without a frame
  double seek_beyond = 5;                // seconds: frames that are nearer are decoded one after the other
};

// A frame and when it is shown, in seconds after the start of the video.
struct VideoFrame {
  double seconds = 0;
  Image image;
};

// Reads the main video of a file. The pixels of a frame do not depend on what was read before. Not for several threads
// at once.
class VideoReader {
 public:
  // Throws Error{kFormat} for bytes that are no video that can be read, and where the build reads none; `source` names
  // the file.
  VideoReader(VideoBytes bytes, const VideoLimits& limits, std::string source);
  ~VideoReader();
  VideoReader(const VideoReader&) = delete;
  VideoReader& operator=(const VideoReader&) = delete;

  // When frames are shown, ascending and without doubles: read from the file's packets, nothing is decoded. Starts over
  // afterwards.
  std::vector<double> frame_times();

  // The next frame, upright; nothing at the end. Frames that are damaged are passed over. Throws Error{kFormat} when
  // nothing can be decoded any more.
  std::optional<VideoFrame> next();

  // The first frame that is shown at `seconds` or later. Throws Error{kFormat} when there is none.
  Image at(double seconds);

 private:
  class Decoder;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace annulus
