// Numbers in text files, independent of the locale.
#pragma once

#include <charconv>
#include <cmath>
#include <string_view>

namespace annulus {

// True when all of `text` is one number that a float can hold (its nearest float is finite).
inline bool parse_feature(std::string_view text, float& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double wide = 0.0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, wide);
  value = static_cast<float>(wide);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(value);
}

}  // namespace annulus
