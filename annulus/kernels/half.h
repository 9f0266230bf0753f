// Conversion between IEEE binary16 bit patterns and float.
#pragma once

#include <cstdint>
#include <span>

namespace annulus {

// out[i] = the float that in[i] encodes, exactly; sizes must match.
void widen_half(std::span<const std::uint16_t> in, std::span<float> out);
// out[i] = in[i] rounded to nearest even; too large values become infinity.
void narrow_half(std::span<const float> in, std::span<std::uint16_t> out);

}  // namespace annulus
