// Two methods on the same splits or episodes.
#pragma once

#include <cstddef>
#include <string>

#include "annulus/eval/metrics/statistics.h"

namespace annulus {

struct MethodComparison {
  std::size_t shots = 0;
  std::string method;
  std::string against;
  PairedDifference paired{};  // in points
};

}  // namespace annulus
