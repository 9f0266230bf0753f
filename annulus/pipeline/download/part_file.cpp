// Appends to a file and renames it.
#include "annulus/pipeline/download/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus {

std::string megabytes_text(std::uint64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

PartFile::PartFile(const std::filesystem::path& target)
    : target_(target), path_(target.string() + ".part"), tag_path_(path_ + ".tag") {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with("made", errno);
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  size_ = end > 0 ? static_cast<std::uint64_t>(end) : 0;
}

PartFile::~PartFile() {
  ::close(descriptor_);
  if (size_ == 0) ::unlink(path_.c_str());  // nothing has come
}

void PartFile::append(const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with("written", errno);
    bytes += written;
    count -= static_cast<std::size_t>(written);
    size_ += static_cast<std::uint64_t>(written);
  }
}

void PartFile::empty() {
  size_ = 0;
  if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) fail_with("emptied", errno);
  std::error_code ignored;
  std::filesystem::remove(tag_path_, ignored);
}

std::string PartFile::tag() const {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(tag_path_, ignored)) return {};
  return std::string(as_text(map_file(tag_path_).bytes));
}

void PartFile::set_tag(const std::string& tag) {
  if (!tag.empty()) write_file(tag_path_, tag);
}

void PartFile::install() {
  if (::fsync(descriptor_) != 0) fail_with("made durable", errno);
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot be renamed into place: {}", target_.string(), error.message());
  std::filesystem::remove(tag_path_, error);
}

void PartFile::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  std::filesystem::remove(tag_path_, ignored);
}

void PartFile::fail_with(const char* action, int error_number) const {
  const std::string reason = std::generic_category().message(error_number);
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG) {
    fail(ErrorKind::kIo, "{}: the disk is full ({}): make room and run the command again, which goes on after {}",
         path_, reason, megabytes_text(size_));
  }
  fail(ErrorKind::kIo, "{}: cannot be {}: {}", path_, action, reason);
}

}  // namespace annulus
