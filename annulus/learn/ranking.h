// The most probable classes of a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace annulus {

struct RankedClass {
  std::int32_t index = 0;
  float probability = 0.0F;
};

// The min(count, size) most probable classes, most probable first; of equals, the lower index first.
std::vector<RankedClass> most_probable(std::span<const float> probabilities, std::size_t count);

}  // namespace annulus
