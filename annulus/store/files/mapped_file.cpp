// Maps files with POSIX calls; the descriptor is closed at once, the mapping outlives it.
#include "annulus/store/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "annulus/base/error.h"

namespace annulus {
namespace {

struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) {
    fail(ErrorKind::kIo, "{}: cannot be opened: {}", path.string(), std::generic_category().message(errno));
  }
  struct stat status = {};
  if (::fstat(file.value, &status) != 0) {
    fail(ErrorKind::kIo, "{}: cannot be examined: {}", path.string(), std::generic_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorKind::kIo, "{}: expected a regular file, found a {}", path.string(),
         S_ISDIR(status.st_mode) ? "folder" : "device or pipe");
  }
  if (status.st_size == 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (memory == MAP_FAILED) {
    fail(ErrorKind::kIo, "{}: cannot be mapped into memory: {}", path.string(), std::generic_category().message(errno));
  }
  data_ = static_cast<const std::byte*>(memory);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

FileBytes map_file(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return {file->bytes(), file, path.string()};
}

}  // namespace annulus
