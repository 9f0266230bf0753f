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

// A number for a text of 16 hexadecimal digits or more, from its first ones; 0 is no text's.
std::uint64_t number_of_hex(std::string_view hex);

// Waits a moment for what other processes do.
void wait_for_others();

}  // namespace annulus
