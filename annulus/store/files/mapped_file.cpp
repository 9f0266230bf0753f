// Maps files with POSIX calls; the descriptor is closed at once, the mapping outlives it.
#include "annulus/store/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/store/files/file_descriptor.h"

namespace annulus {
namespace {

// Names of mapped files for a signal handler.
struct NamedRange {
  std::atomic<const std::byte*> begin{nullptr};  // set last and reset first
  std::atomic<bool> taken{false};
  std::size_t size = 0;
  std::array<char, 512> path{};
};

constexpr std::size_t kNamedRanges = 64;
std::array<NamedRange, kNamedRanges> named_ranges;

void remember(const std::byte* begin, std::size_t size, const std::string& path) {
  for (NamedRange& range : named_ranges) {
    if (range.taken.exchange(true)) continue;
    range.size = size;
    range.path[path.copy(range.path.data(), range.path.size() - 1)] = '\0';
    range.begin = begin;
    return;
  }
}

void forget(const std::byte* begin) {
  for (NamedRange& range : named_ranges) {
    if (range.begin != begin) continue;
    range.begin = nullptr;
    range.taken = false;
    return;
  }
}

}  // namespace

std::string_view mapped_file_at(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (const NamedRange& range : named_ranges) {
    const auto begin = reinterpret_cast<std::uintptr_t>(range.begin.load());
    if (begin != 0 && wanted >= begin && wanted - begin < range.size) return range.path.data();
  }
  return {};
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) {
    fail(ErrorKind::kIo, "{}: cannot be opened: {}", path.string(), std::generic_category().message(errno));
  }
  struct stat status = {};
  if (::fstat(file.number, &status) != 0) {
    fail(ErrorKind::kIo, "{}: cannot be examined: {}", path.string(), std::generic_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorKind::kIo, "{}: expected a regular file, found a {}", path.string(),
         S_ISDIR(status.st_mode) ? "folder" : "device or pipe");
  }
  if (status.st_size == 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) {
    fail(ErrorKind::kIo, "{}: cannot be mapped into memory: {}", path.string(), std::generic_category().message(errno));
  }
  data_ = static_cast<const std::byte*>(memory);
  size_ = size;
  remember(data_, size_, path.string());
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  forget(data_);
  ::munmap(const_cast<std::byte*>(data_), size_);
}

FileBytes map_file(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return {file->bytes(), file, path.string()};
}

}  // namespace annulus
