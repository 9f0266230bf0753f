// Rows of very large or very small numbers, whose squares a float cannot hold.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace annulus {

// The bits of the largest magnitude of a row: floats without a sign lie in the order of their bits.
inline std::uint32_t largest_bits(std::span<const float> row) {
  std::uint32_t largest = 0;
  for (const float value : row) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU);
  return largest;
}

// Whether the squares of a row, and the sum of very many of them, are numbers that a float holds with all its digits:
// its largest number is from 2^-50 to 2^50. True as well for rows of zeros, and for those that are not finite, which no
// factor brings into range.
inline bool is_in_range(std::span<const float> row) {
  constexpr int kExponentAt = 23;
  constexpr std::uint32_t kNotFinite = 0xFFU << kExponentAt;
  constexpr std::uint32_t kSmallest = std::uint32_t{127 - 50} << kExponentAt;
  constexpr std::uint32_t kLargest = std::uint32_t{127 + 50} << kExponentAt;
  const std::uint32_t largest = largest_bits(row);
  return largest == 0 || largest >= kNotFinite || (largest >= kSmallest && largest <= kLargest);
}

// Scales a row that is not in range by a power of two, so that its largest number is from 1 to 2: its direction stays
// as it was. All other rows stay as they are, to the bit. Cost: one pass.
inline void bring_into_range(std::span<float> row) {
  if (is_in_range(row)) return;
  const int exponent = std::ilogb(std::bit_cast<float>(largest_bits(row)));
  for (float& value : row) value = std::scalbn(value, -exponent);
}

}  // namespace annulus
