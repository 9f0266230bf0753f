// Thresholds from quantiles.
#include "annulus/learn/openset/rejection_rule.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace annulus {

namespace {

// Between two entries, the first of which is for 0 and the last for 1.
float interpolated(const std::vector<float>& entries, double fraction) {
  assert(entries.size() >= 2 && fraction <= 1.0);
  const double place = fraction * static_cast<double>(entries.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), entries.size() - 2);
  const auto part = static_cast<float>(place - static_cast<double>(below));
  return entries[below] + part * (entries[below + 1] - entries[below]);
}

}  // namespace

float unknown_threshold(const UnknownRule& rule, double fraction) {
  if (!(fraction > 0.0)) return -std::numeric_limits<float>::infinity();
  return interpolated(rule.quantiles, fraction);
}

std::optional<double> unknown_catch_rate(const UnknownRule& rule, double fraction) {
  if (rule.caught.empty()) return std::nullopt;
  if (!(fraction > 0.0)) return 0.0;
  return static_cast<double>(interpolated(rule.caught, fraction));
}

}  // namespace annulus
