// The one exception of the project: what was expected, what was found, and where.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace annulus {

enum class ErrorKind {
  kUsage,      // the caller asked for something that makes no sense (an option out of range)
  kInput,      // the data is readable but cannot be used (NaN, one class, mismatched lengths)
  kFormat,     // a file is not what its format promises (truncated, hostile, unknown)
  kIo,         // the operating system refused (missing file, full disk)
  kCancelled,  // the user asked to stop
  kInternal,   // a defect of this program
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

// Throws Error{kind} with a formatted one-sentence message.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace annulus
