// Standard normal values in bulk, counter-based: value i of a stream is a pure function of (stream, i).
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/random.h"

namespace annulus {

// out[i] = standard normal value first + i of the stream, by Philox and Box-Muller in float (tails end near 5.9). The
// bits of a value do not depend on the requested range, on the same instruction set. Cost: about 10 vector operations
// per value.
void fill_gaussian(const RandomStream& stream, std::uint64_t first, std::span<float> out);

}  // namespace annulus
