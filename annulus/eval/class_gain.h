// Which classes gain: classes sorted by the baseline's recall and cut into bins, the mean gain of each.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace annulus {

struct GainBin {
  std::size_t classes = 0;
  double baseline = 0.0;  // mean recall of its classes, percent
  double gain = 0.0;      // mean gain of its classes, points
};

struct ClassGain {
  std::vector<GainBin> bins;  // from the hardest classes to the easiest
  std::size_t classes = 0;    // that have test rows
  double improved = 0.0;      // share of classes with a gain above 0, percent
  double worsened = 0.0;      // share of classes with a gain below 0, percent
};

// Recalls in percent, one a class, NaN for a class without test rows, which is left out. Classes of equal baseline
// recall stay in their order. There are as many bins as asked for, or as there are classes; bins differ by at most one
// class.
ClassGain class_gain(std::span<const double> baseline, std::span<const double> method, std::size_t bins = 10);

}  // namespace annulus
