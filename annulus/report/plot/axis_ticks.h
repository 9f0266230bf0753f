// Round numbers for the axes of plots.
#pragma once

#include <string>
#include <vector>

namespace annulus {

// The range of an axis and the values of its ticks, all finite, ascending and inside the range.
struct Axis {
  double low = 0.0;
  double high = 1.0;
  bool logarithmic = false;
  std::vector<double> ticks;

  // 0 at `low`, 1 at `high`; values outside are moved to the nearer end.
  double position(double value) const;
};

// An axis from a round number at or below `low` to one at or above `high`, with about `wanted` ticks at multiples of
// 1, 2 or 5 times a power of ten. Equal or reversed ends are widened; values must be finite and of at most 1e15 in
// size.
Axis linear_axis(double low, double high, int wanted);

// The same on a logarithmic scale. Values at or below 1e-9 count as 1e-9.
Axis log_axis(double low, double high);

// "0.05", "12.5", "−3": ticks with as many decimals as the finest of them needs.
std::vector<std::string> tick_labels(const Axis& axis);

}  // namespace annulus
