// Accuracy, mean and standard deviation.
#include "annulus/eval/metrics/metrics.h"

#include <cassert>
#include <cmath>
#include <cstddef>

namespace annulus {

double accuracy_percent(std::span<const std::int32_t> predicted, std::span<const std::int32_t> truth) {
  assert(predicted.size() == truth.size() && !truth.empty());
  std::size_t right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (predicted[i] == truth[i]) ++right;
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(truth.size());
}

Summary summarize(std::span<const double> values) {
  assert(!values.empty());
  Summary summary;
  for (const double value : values) summary.mean += value;
  summary.mean /= static_cast<double>(values.size());
  if (values.size() == 1) return summary;
  double squares = 0.0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.standard_deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return summary;
}

}  // namespace annulus
