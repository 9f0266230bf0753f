// Signatures and names of video files.
#include "annulus/vision/video/video_type.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "annulus/base/error.h"
#include "annulus/vision/image/image_type.h"

namespace annulus {
namespace {

using namespace std::string_view_literals;

constexpr std::array kExtensions = {".mp4"sv,  ".m4v"sv, ".mov"sv, ".3gp"sv, ".mkv"sv,  ".webm"sv, ".avi"sv, ".mpg"sv,
                                    ".mpeg"sv, ".m2v"sv, ".ts"sv,  ".mts"sv, ".m2ts"sv, ".ogv"sv,  ".flv"sv, ".wmv"sv};

// Packets of 188 bytes, the first byte of each is the same.
bool begins_like_transport_stream(std::string_view file) {
  constexpr std::size_t kPacket = 188;
  constexpr std::size_t kPackets = 4;
  if (file.size() < kPacket * (kPackets - 1) + 1) return false;
  for (std::size_t i = 0; i < kPackets; ++i) {
    if (file[i * kPacket] != 'G') return false;
  }
  return true;
}

bool begins_like_mp4(std::string_view file) {
  if (file.size() < 12) return false;
  const std::string_view box = file.substr(4, 4);
  return box == "ftyp" || box == "moov" || box == "mdat" || box == "wide" || box == "free" || box == "skip";
}

}  // namespace

bool is_video(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (image_type_of(head)) return false;
  if (text.starts_with("RIFF") && text.size() >= 12) return text.substr(8, 4) == "AVI ";
  for (const std::string_view start : {"\x1A\x45\xDF\xA3"sv, "\0\0\1\xBA"sv, "\0\0\1\xB3"sv, "OggS\0"sv, "FLV\1"sv,
                                       "\x30\x26\xB2\x75\x8E\x66\xCF\x11"sv}) {
    if (text.starts_with(start)) return true;
  }
  return begins_like_mp4(text) || begins_like_transport_stream(text);
}

bool is_video_extension(std::string_view extension) {
  std::string lower(extension);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kExtensions.begin(), kExtensions.end(), lower) != kExtensions.end();
}

bool reads_videos() {
#if defined(ANNULUS_WITH_LIBAV)
  return true;
#else
  return false;
#endif
}

void reject_missing_videos(std::string_view source) {
  fail(ErrorKind::kFormat,
       "{}: this build of annulus cannot read videos: install the Debian packages libavformat-dev, libavcodec-dev and "
       "libswscale-dev and build it again",
       source);
}

}  // namespace annulus
