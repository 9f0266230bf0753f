// Opens video files and chooses their frames.
#include "annulus/store/images/video_frames.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/media_fragment.h"
#include "annulus/vision/video/scene_change.h"
#include "annulus/vision/video/video_type.h"

namespace annulus {
namespace {

// A regular file that is open for reading. Read, not mapped: one that is shortened meanwhile must not end the program.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status = {};
    const bool known = descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0;
    const int error = errno;
    if (known && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
      return;
    }
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!known) {
      fail(ErrorKind::kIo, "{}: cannot be opened: {}", path.string(), std::generic_category().message(error));
    }
    fail(ErrorKind::kIo, "{}: expected a video file, found a {}", path.string(),
         S_ISDIR(status.st_mode) ? "folder" : "device or pipe");
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::uint64_t size() const { return size_; }

  // As VideoBytes::read; an error counts as the end.
  std::size_t read(std::uint64_t offset, std::span<std::byte> out) const {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t count =
          ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

void check_count(std::size_t count, const FrameOptions& options, const std::string& source) {
  if (count > options.max_frames) {
    fail(ErrorKind::kInput, "{}: expected at most {} frames of a video, found more: choose fewer", source,
         options.max_frames);
  }
}

}  // namespace

std::unique_ptr<VideoReader> open_video(const std::filesystem::path& path) {
  const auto file = std::make_shared<OpenFile>(path);
  return std::make_unique<VideoReader>(
      VideoBytes{[file](std::uint64_t offset, std::span<std::byte> out) { return file->read(offset, out); },
                 file->size()},
      VideoLimits{}, path.string());
}

std::string file_sha256(const std::filesystem::path& path) {
  const OpenFile file(path);
  std::vector<std::byte> block(std::size_t{1} << 20);
  Sha256 sum;
  for (std::uint64_t at = 0;;) {
    const std::size_t count = file.read(at, block);
    if (count == 0) return sum.finish_hex();
    sum.update(std::span(block).first(count));
    at += count;
  }
}

bool is_video_file(const std::filesystem::path& path) {
  try {
    std::array<std::byte, kVideoHeadBytes> head{};
    return is_video(std::span(head).first(OpenFile(path).read(0, head)));
  } catch (const Error&) {
    return false;  // whoever reads it as an image says why
  }
}

std::vector<double> choose_frames(VideoReader& video, const FrameOptions& options, const std::string& source) {
  std::vector<double> chosen;
  if (options.scenes) {
    SceneChange scenes;
    while (const auto frame = video.next()) {
      if (scenes.begins(frame->image)) chosen.push_back(frame->seconds);
      check_count(chosen.size(), options, source);
    }
    return chosen;
  }
  double period = -1;
  for (const double seconds : video.frame_times()) {
    const double of_frame = std::floor(seconds / options.every + 1e-6);
    if (of_frame <= period) continue;
    period = of_frame;
    chosen.push_back(seconds);
    check_count(chosen.size(), options, source);
  }
  return chosen;
}

ImageRows frames_of_rows(ImageRows rows, const FrameOptions& options) {
  if (options.scenes && options.every > 0) {
    fail_field(ErrorKind::kUsage, "every", "expected either {} or scenes, found both");
  }
  const bool alone = rows.rows.size() == 1;
  ImageRows out;
  out.warnings = std::move(rows.warnings);
  out.empty_classes = std::move(rows.empty_classes);
  for (ImageRow& row : rows.rows) {
    if (!parse_media_fragment(row.path).whole() || !is_video_file(row.path)) {
      out.rows.push_back(std::move(row));
      continue;
    }
    try {
      const auto frames = choose_frames(*open_video(row.path), options, row.path);
      if (frames.empty()) fail(ErrorKind::kFormat, "{}: expected a video with frames, found none", row.path);
      if (row.group.empty()) row.group = row.path;
      for (const double seconds : frames) out.rows.emplace_back(row).path = to_text({row.path, seconds});
    } catch (const Error& error) {
      if (alone || error.kind() == ErrorKind::kInternal) throw;
      out.warnings.push_back(fmt::format("left out {}", error.what()));
    }
  }
  return out;
}

}  // namespace annulus
