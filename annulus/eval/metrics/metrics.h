// Accuracy, and the mean and spread of repeated runs.
#pragma once

#include <cstdint>
#include <span>

namespace annulus {

// Fraction of correct predictions, in percent. The spans have the same length of at least 1.
double accuracy_percent(std::span<const std::int32_t> predicted, std::span<const std::int32_t> truth);

struct Summary {
  double mean = 0.0;
  double standard_deviation = 0.0;  // of the sample (n - 1); 0 for a single value
};

// Mean and spread of at least one value.
Summary summarize(std::span<const double> values);

}  // namespace annulus
