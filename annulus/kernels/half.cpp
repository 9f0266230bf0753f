// binary16 conversion by integer arithmetic: exact on every machine, and simple enough for the compiler to vectorise.
// (Highway's own conversion neither rounds to nearest nor keeps infinities where the machine has no F16C.)
#include "annulus/kernels/half.h"

#include <bit>
#include <cassert>
#include <cstddef>

namespace annulus {
namespace {

float widen(std::uint16_t half) {
  // Exponent and mantissa are moved to their places in a float; the product corrects the bias, also for subnormals.
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7FFFU) << 13;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1.0p112F);
  if ((half & 0x7C00U) == 0x7C00U) bits |= 0x7F800000U;  // infinity and NaN
  return std::bit_cast<float>(bits | static_cast<std::uint32_t>(half & 0x8000U) << 16);
}

std::uint16_t narrow(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000U) {
    half = 0x7E00U;  // NaN
  } else if (magnitude >= 0x477FF000U) {
    half = 0x7C00U;  // 65520 and more round to infinity
  } else if (magnitude < 0x38800000U) {
    // Below 2^-14 the unit is 2^-24, which is the last place of values near 0.5: the addition rounds.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  } else {
    const std::uint32_t to_even = magnitude >> 13 & 1U;
    half = (magnitude - 0x38000000U + 0xFFFU + to_even) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace

void widen_half(std::span<const std::uint16_t> in, std::span<float> out) {
  assert(in.size() == out.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = widen(in[i]);
}

void narrow_half(std::span<const float> in, std::span<std::uint16_t> out) {
  assert(in.size() == out.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = narrow(in[i]);
}

}  // namespace annulus
