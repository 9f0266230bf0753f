// Bins of confidence, and the calibration error that is measured by them everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace annulus {

inline constexpr std::size_t kConfidenceBins = 15;

// Examples whose confidence lies in one fifteenth of the range 0 to 1.
struct ConfidenceBin {
  double confidence = 0.0;  // sum over its examples
  std::size_t correct = 0;
  std::size_t count = 0;
};

// Adds an example to the bin of its confidence; values beyond the ends fall into the bins at the ends.
inline void add_confidence(std::array<ConfidenceBin, kConfidenceBins>& bins, double confidence, bool correct) {
  const double place = std::max(0.0, confidence * static_cast<double>(kConfidenceBins));
  ConfidenceBin& bin = bins[std::min(kConfidenceBins - 1, static_cast<std::size_t>(place))];
  bin.confidence += confidence;
  bin.correct += correct ? 1 : 0;
  ++bin.count;
}

// In percent: 100 * sum over bins of count / total * |mean confidence - accuracy|.
inline double expected_calibration_error(std::span<const ConfidenceBin> bins) {
  double error = 0.0;
  std::size_t examples = 0;
  for (const ConfidenceBin& bin : bins) {
    error += std::abs(bin.confidence - static_cast<double>(bin.correct));
    examples += bin.count;
  }
  return examples == 0 ? 0.0 : 100.0 * error / static_cast<double>(examples);
}

}  // namespace annulus
