// Golden-section search, by which numbers of a calibration are found.
#pragma once

#include <cmath>

namespace annulus {

// The middle of an interval of at most `width` within [low, high] that holds the minimum of a function with one
// minimum. The function is called once for each step.
template <class Function>
double golden_section_minimum(double low, double high, double width, const Function& function) {
  const double ratio = (std::sqrt(5.0) - 1.0) / 2.0;
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  while (high - low > width) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - ratio * (high - low);
      at_left = function(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + ratio * (high - low);
      at_right = function(right);
    }
  }
  return (low + high) / 2.0;
}

}  // namespace annulus
