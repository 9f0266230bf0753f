// Which classes gain (figure 3 of the paper): classes sorted by the baseline's recall, divided into bins, and the mean
// gain of each bin.
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
  std::size_t classes = 0;    // with test examples
  double improved = 0.0;      // fraction of classes with a gain above 0, percent
  double worsened = 0.0;      // fraction of classes with a gain below 0, percent
};

// Recalls in percent, one per class; classes without test examples (NaN) are left out. Classes of equal baseline recall
// keep their order. There are `bins` bins, or as many as classes; their sizes differ by at most one class.
ClassGain class_gain(std::span<const double> baseline, std::span<const double> method, std::size_t bins = 10);

}  // namespace annulus
