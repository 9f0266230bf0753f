// Fuzzes videos: times of frames, frames in order, and a moment.
#include "annulus/vision/video/video.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "annulus/base/error.h"
#include "annulus/vision/video/scene_change.h"
#include "annulus/vision/video/video_type.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  annulus::is_video(std::as_bytes(std::span(data, size)));
  const auto read = [&](std::uint64_t offset, std::span<std::byte> out) {
    if (offset >= size) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(out.size(), size - offset);
    std::memcpy(out.data(), data + offset, count);
    return count;
  };
  annulus::VideoLimits limits;
  limits.max_pixels = std::size_t{1} << 16;
  limits.most_lost = 200;
  limits.most_seconds = 2;
  try {
    annulus::VideoReader video({read, size}, limits, "fuzz");
    const std::vector<double> times = video.frame_times();
    annulus::SceneChange scenes;
    for (int i = 0; i < 50; ++i) {
      const auto frame = video.next();
      if (!frame) break;
      scenes.begins(frame->image);
    }
    if (!times.empty()) video.at(times[times.size() / 2]);
  } catch (const annulus::Error& error) {
    if (error.kind() != annulus::ErrorKind::kFormat) std::abort();
  }
  return 0;
}
