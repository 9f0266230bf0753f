// Locks on numbers of a file, by which processes share work out: a lock ends with the process that holds it, whatever
// ends that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace annulus {

// Holds the number until the pointer is gone; null where another opening of the file, here or in another process, holds
// it. The descriptor must outlive the pointer. Numbers lie far beyond the end of any file, nothing is written. Throws
// Error{kIo} where the file system knows no locks.
std::shared_ptr<const void> try_lock_number(int descriptor, std::uint64_t number, const std::filesystem::path& path);

// Waits for it.
std::shared_ptr<const void> lock_number(int descriptor, std::uint64_t number, const std::filesystem::path& path);

// A file that one holder at a time has, here or in another process. It is removed by whoever holds it last.
class HeldFile {
 public:
  // Makes the file. Throws Error{kIo} where that cannot be done.
  explicit HeldFile(const std::filesystem::path& path);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  bool held() const { return lock_ != nullptr; }  // false: another has it

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::shared_ptr<const void> lock_;
};

// A number for a text of 16 hexadecimal digits or more, from its first ones; 0 is no text's.
std::uint64_t number_of_hex(std::string_view hex);

// Waits a moment for what other processes do.
void wait_for_others();

}  // namespace annulus
