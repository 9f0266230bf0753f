// Reads by plain calls: a mapped file that is cut short would end the process.
#include "annulus/store/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "annulus/base/error.h"

namespace annulus {
namespace {

FileStamp stamp_from(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(status.st_size),
          static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
}

[[noreturn]] void fail_to_read(const std::filesystem::path& path) {
  fail(ErrorKind::kIo, "cannot read {}: {}", path.string(), std::strerror(errno));
}

// Closes when it goes.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_to_read(path);
  return stamp_from(status);
}

WholeFile read_whole_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0) fail_to_read(path);
  if (!S_ISREG(status.st_mode)) fail(ErrorKind::kIo, "cannot read {}: it is no regular file", path.string());
  WholeFile whole;
  whole.stamp = stamp_from(status);
  if (whole.stamp.size > max_bytes) {
    fail(ErrorKind::kIo, "cannot read {}: expected at most {} bytes, found {}", path.string(), max_bytes,
         whole.stamp.size);
  }
  whole.bytes.resize(whole.stamp.size);
  for (std::size_t at = 0; at < whole.bytes.size();) {
    const ssize_t count = ::read(file.number, whole.bytes.data() + at, whole.bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(path);
    if (count == 0) fail(ErrorKind::kIo, "cannot read {}: it became shorter meanwhile", path.string());
    at += static_cast<std::size_t>(count);
  }
  return whole;
}

}  // namespace annulus
