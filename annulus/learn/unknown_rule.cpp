// Thresholds from quantiles.
#include "annulus/learn/unknown_rule.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace annulus {

float unknown_threshold(const UnknownRule& rule, double share) {
  assert(rule.quantiles.size() >= 2 && share <= 1.0);
  if (!(share > 0.0)) return -std::numeric_limits<float>::infinity();
  const double place = share * static_cast<double>(rule.quantiles.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), rule.quantiles.size() - 2);
  const auto part = static_cast<float>(place - static_cast<double>(below));
  return rule.quantiles[below] + part * (rule.quantiles[below + 1] - rule.quantiles[below]);
}

}  // namespace annulus
