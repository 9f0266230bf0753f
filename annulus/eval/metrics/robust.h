// Robust estimates of location and spread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace annulus {

// The median (the upper one of two); `values` must not be empty.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct RobustScale {
  double middle = 0.0;
  double spread = 1.0;  // estimate of the standard deviation of Gaussian values; never 0

  double standardised(double value) const { return (value - middle) / spread; }
};

// Median and median absolute deviation; robust as long as fewer than half of the values are outliers.
inline RobustScale robust_scale(const std::vector<double>& values) {
  RobustScale scale;
  if (values.empty()) return scale;
  scale.middle = median(values);
  std::vector<double> deviations(values.size());
  std::transform(values.begin(), values.end(), deviations.begin(),
                 [&](double value) { return std::abs(value - scale.middle); });
  constexpr double kGaussian = 1.4826;
  scale.spread = std::max(kGaussian * median(std::move(deviations)), 1e-9);
  return scale;
}

}  // namespace annulus
