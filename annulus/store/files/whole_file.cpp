// Reads with plain calls: accessing a mapped file that is truncated would end the process.
#include "annulus/store/files/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "annulus/base/error.h"
#include "annulus/store/files/file_descriptor.h"

namespace annulus {
namespace {

FileIdentity identity_from(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(status.st_size),
          static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
}

[[noreturn]] void fail_to_read(const std::filesystem::path& path) {
  fail(ErrorKind::kIo, "cannot read {}: {}", path.string(), std::strerror(errno));
}

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_to_read(path);
  return identity_from(status);
}

WholeFile read_whole_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0) fail_to_read(path);
  if (!S_ISREG(status.st_mode)) fail(ErrorKind::kIo, "cannot read {}: it is no regular file", path.string());
  WholeFile whole;
  whole.identity = identity_from(status);
  if (whole.identity.size > max_bytes) {
    fail(ErrorKind::kIo, "cannot read {}: expected at most {} bytes, found {}", path.string(), max_bytes,
         whole.identity.size);
  }
  whole.bytes.resize(whole.identity.size);
  for (std::size_t at = 0; at < whole.bytes.size();) {
    const ssize_t count = ::read(file.number, whole.bytes.data() + at, whole.bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(path);
    if (count == 0) fail(ErrorKind::kIo, "cannot read {}: it was truncated meanwhile", path.string());
    at += static_cast<std::size_t>(count);
  }
  return whole;
}

}  // namespace annulus
