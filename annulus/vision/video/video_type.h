// Which files are videos, by their content.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace annulus {

// Bytes at the start of a file that is_video looks at.
inline constexpr std::size_t kVideoHeadBytes = 1024;

// Whether a file that begins like this is a video: MP4 or QuickTime, Matroska or WebM, AVI, MPEG, Ogg, Flash or Windows
// Media. HEIC and AVIF, which are built like MP4, are none.
bool is_video(std::span<const std::byte> head);

// Whether files of videos are commonly called so: ".mp4", ".mov", ... in any case. Says which files of a folder are
// looked at; what a file is, its content decides.
bool is_video_extension(std::string_view extension);

// Whether this build reads videos.
bool reads_videos();

// Throws Error{kFormat} that says which packages would let a build read videos; `source` names the file.
[[noreturn]] void reject_missing_videos(std::string_view source);

}  // namespace annulus
