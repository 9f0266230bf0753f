// Base64, four letters at a time.
#include "annulus/base/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kSpace = 64;
constexpr std::uint8_t kPadding = 65;
constexpr std::uint8_t kForeign = 66;

constexpr std::array<std::uint8_t, 256> letter_values() {
  std::array<std::uint8_t, 256> table{};
  for (auto& value : table) value = kForeign;
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

std::string base64_encoded(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kLetters[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::string base64_decoded(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = letter_values();
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

}  // namespace annulus
