// The most probable classes of an example.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "annulus/learn/model/prediction.h"

namespace annulus {

// The min(count, size) most probable classes, most probable first; of equals, the lower index first.
std::vector<RankedClass> most_probable(std::span<const float> probabilities, std::size_t count);

}  // namespace annulus
