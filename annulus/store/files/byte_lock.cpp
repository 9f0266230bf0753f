// Open file description locks of one byte each.
#include "annulus/store/files/byte_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::uint64_t kFirstByte = std::uint64_t{1} << 61;  // beyond any file
constexpr std::uint64_t kNumbers = std::uint64_t{1} << 60;
constexpr char kLocked = 0;

struct flock byte_of(short kind, std::uint64_t number) {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(kFirstByte + number % kNumbers);
  range.l_len = 1;
  return range;
}

std::shared_ptr<const void> locked(int descriptor, bool wait, std::uint64_t number, const std::filesystem::path& path) {
  struct flock range = byte_of(F_WRLCK, number);
  while (fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &range) != 0) {
    if (errno == EINTR) continue;
    if (!wait && (errno == EAGAIN || errno == EACCES)) return nullptr;
    fail(ErrorKind::kIo, "{}: cannot lock a part of it: {}", path.string(), std::strerror(errno));
  }
  // Only its destructor matters: it points to nothing.
  return std::shared_ptr<const void>(&kLocked, [descriptor, number](const void*) {
    struct flock free = byte_of(F_UNLCK, number);
    fcntl(descriptor, F_OFD_SETLK, &free);
  });
}

}  // namespace

std::shared_ptr<const void> try_lock_number(int descriptor, std::uint64_t number, const std::filesystem::path& path) {
  return locked(descriptor, false, number, path);
}

std::shared_ptr<const void> lock_number(int descriptor, std::uint64_t number, const std::filesystem::path& path) {
  return locked(descriptor, true, number, path);
}

HeldFile::HeldFile(const std::filesystem::path& path) : path_(path) {
  // A file that its holder removed between our opening and our lock is stale: another may have been made.
  for (;;) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(ErrorKind::kIo, "{}: could not be made: {}", path.string(), std::strerror(errno));
    try {
      lock_ = try_lock_number(descriptor_, 1, path);
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    struct stat own {};
    struct stat named {};
    const bool current = !lock_ || (::fstat(descriptor_, &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
                                    own.st_ino == named.st_ino && own.st_dev == named.st_dev);
    if (current) return;
    lock_.reset();
    ::close(descriptor_);
  }
}

HeldFile::~HeldFile() {
  if (lock_) ::unlink(path_.c_str());
  lock_.reset();
  ::close(descriptor_);
}

std::uint64_t number_of_hex(std::string_view hex) {
  std::uint64_t number = 0;
  std::from_chars(hex.data(), hex.data() + std::min<std::size_t>(hex.size(), 15), number, 16);
  return number == 0 ? 1 : number;
}

void wait_for_others() {
  constexpr int kMilliseconds = 50;
  poll(nullptr, 0, kMilliseconds);
}

}  // namespace annulus
