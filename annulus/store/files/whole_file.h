// A file read into memory at once, and its identity: for files that may be replaced or truncated while in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace annulus {

// Changes when a file is written to or replaced.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

// Throws Error{kIo} if there is no such file.
FileIdentity identity_of(const std::filesystem::path& path);

struct WholeFile {
  std::vector<std::byte> bytes;
  FileIdentity identity;  // taken from the open file before it was read
};

// Throws Error{kIo} when it cannot be read, or is longer than max_bytes.
WholeFile read_whole_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace annulus
