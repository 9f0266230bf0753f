// Standard normal numbers in bulk, counter-based: number i of a stream is a pure function of (stream, i).
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/random.h"

namespace annulus {

// out[i] = standard normal number first + i of the stream, by Philox and Box-Muller in float (tails end near 5.9).
// Whatever range is asked for, and in whatever pieces, a number is the same bits on the same instruction set.
// Cost: about 10 vector operations a number.
void fill_gaussian(const RandomStream& stream, std::uint64_t first, std::span<float> out);

}  // namespace annulus
