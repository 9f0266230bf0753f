// Frames of video files as examples, each named by its moment: clip.mp4#t=12.5.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "annulus/store/images/image_rows.h"
#include "annulus/vision/video/video.h"

namespace annulus {

// Opens a video file for reading. Throws Error{kIo} where there is none, and as VideoReader does.
std::unique_ptr<VideoReader> open_video(const std::filesystem::path& file);

// SHA-256 of a file of any size, in hexadecimal digits. Throws Error{kIo}.
std::string file_sha256(const std::filesystem::path& file);

// Whether a file is a video, by its content; false where it cannot be read.
bool is_video_file(const std::filesystem::path& file);

// When the chosen frames of a video are shown. every: the first frame in each period of so many seconds; scenes: the
// first frame, and each with which a scene begins (SceneChange). Throws Error{kInput} for more than
// options.max_frames.
std::vector<double> choose_frames(VideoReader& video, const FrameOptions& options, const std::string& source);

// The rows with a row for each chosen frame in place of a video, which are a group unless the row names another; other
// files stay. A video that cannot be read is left
// out with a warning, unless it is the only row.
ImageRows frames_of_rows(ImageRows rows, const FrameOptions& options);

}  // namespace annulus
