// Error, and fail(), which throws one with a formatted message.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "annulus/base/error_type.h"

namespace annulus {

// Throws Error{kind} with a formatted one-sentence message.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

// The same about one field of the options. The first {} of the format stands for the name of the field.
template <class... Args>
[[noreturn]] void fail_field(ErrorKind kind, std::string_view field,
                             fmt::format_string<const std::string_view&, Args...> format, Args&&... args) {
  const std::string_view mark = "\x1f";  // stands where the field will: its name may occur in other arguments
  const std::string text = fmt::format(format, mark, std::forward<Args>(args)...);
  const std::size_t at = text.find(mark);
  throw Error(kind, text.substr(0, at), std::string(field), text.substr(at + mark.size()));
}

}  // namespace annulus
