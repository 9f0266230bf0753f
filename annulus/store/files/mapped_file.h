// A file mapped read-only into memory: its pages are read on access and shared with other processes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace annulus {

// The file must not be shortened while it is mapped; Annulus itself replaces files only by renaming, which is safe.
class MappedFile {
 public:
  // Throws Error{kIo} when the file cannot be opened or is not a regular file. An empty file gives empty bytes.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// The input of every reader in this folder: bytes, their owner, and a name for messages. A reader that returns views
// into `bytes` keeps a copy of `owner`; with an empty owner the caller keeps the bytes alive.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::string source;
};

// The mapped file that an address is in; empty where there is none, or too many are mapped to keep their names. For
// handlers of SIGBUS, the signal that a page gives which is not in the file any more: takes no memory and no locks.
std::string_view mapped_file_at(const void* address);

FileBytes map_file(const std::filesystem::path& path);

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace annulus
