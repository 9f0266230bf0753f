// Locks on byte positions of a file, by which processes divide work: a lock ends with the process that holds it,
// however that ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace annulus {

// Holds the lock until the pointer is destroyed; null if another opening of the file, here or in another process, holds
// it. The descriptor must outlive the pointer. The positions lie far beyond the end of any file, and nothing is
// written. Throws Error{kIo} if the file system does not support locks.
std::shared_ptr<const void> try_lock_number(int descriptor, std::uint64_t number, const std::filesystem::path& path);

// The same, but waits for it.
std::shared_ptr<const void> lock_number(int descriptor, std::uint64_t number, const std::filesystem::path& path);

// A lock file that one holder has at a time, here or in another process. The last holder removes it.
class HeldFile {
 public:
  // Creates the file. Throws Error{kIo} if that fails.
  explicit HeldFile(const std::filesystem::path& path);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  bool held() const { return lock_ != nullptr; }  // false: another holder has it

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::shared_ptr<const void> lock_;
};

// A lock number from the first digits of a text of at least 16 hexadecimal digits; never 0.
std::uint64_t number_of_hex(std::string_view hex);

// Waits a moment for other processes.
void wait_for_others();

}  // namespace annulus
