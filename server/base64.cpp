// Base64, four letters at a time.
#include "server/base64.h"

#include <array>
#include <cstdint>

#include "annulus/base/error.h"

namespace annulus::server {
namespace {

constexpr std::uint8_t kSpace = 64;
constexpr std::uint8_t kPadding = 65;
constexpr std::uint8_t kForeign = 66;

constexpr std::array<std::uint8_t, 256> values() {
  std::array<std::uint8_t, 256> table{};
  for (auto& value : table) value = kForeign;
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    table[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  }
  table['-'] = 62;
  table['_'] = 63;
  for (const char c : {' ', '\t', '\r', '\n'}) table[static_cast<unsigned char>(c)] = kSpace;
  table['='] = kPadding;
  return table;
}

}  // namespace

std::string base64_decoded(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = values();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  std::size_t letters = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kSpace) continue;
    if (value == kPadding) {
      ++padding;
      continue;
    }
    if (value == kForeign || padding > 0) fail(ErrorKind::kFormat, "expected base64, found something else");
    bits = bits << 6U | value;
    if (++letters % 4 == 0) {
      bytes += static_cast<char>(bits >> 16U & 0xFFU);
      bytes += static_cast<char>(bits >> 8U & 0xFFU);
      bytes += static_cast<char>(bits & 0xFFU);
    }
  }
  const std::size_t rest = letters % 4;
  if (rest == 1 || (padding > 0 && (rest + padding) % 4 != 0)) {
    fail(ErrorKind::kFormat, "expected base64, found {} letters, which are no whole number of bytes", letters);
  }
  if (rest >= 2) bytes += static_cast<char>((rest == 2 ? bits >> 4U : bits >> 10U) & 0xFFU);
  if (rest == 3) bytes += static_cast<char>(bits >> 2U & 0xFFU);
  return bytes;
}

std::string image_bytes_of_text(std::string_view text) {
  if (text.starts_with("data:")) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || !text.substr(0, comma).ends_with(";base64")) {
      fail(ErrorKind::kFormat, "expected an image as data:...;base64,...");
    }
    return base64_decoded(text.substr(comma + 1));
  }
  if (text.substr(0, 16).find("://") != std::string_view::npos) {
    fail(ErrorKind::kFormat, "expected an image as base64, found an address: nothing is fetched");
  }
  return base64_decoded(text);
}

}  // namespace annulus::server
