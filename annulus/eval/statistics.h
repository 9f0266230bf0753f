// Intervals and paired tests of repeated measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace annulus {

// The 97.5 % quantile of Student's t with that many degrees of freedom (at least 1), within 0.2 %.
double student_quantile(std::size_t degrees_of_freedom);

// Half the width of the 95 % interval of the mean of values drawn independently; 0 for fewer than two.
double interval_of_mean(std::span<const double> values);

// How far the mean of `a - b` is from 0, by pairs.
struct PairedDifference {
  double difference = 0.0;  // mean of a - b
  double interval = 0.0;    // half the width of its 95 % interval
  double p_value = 1.0;     // two-sided; 1 where there is nothing to tell apart
  std::size_t pairs = 0;
};

// A sign-flip test: were both alike, each pair's difference would be as likely with the other sign. The p-value is the
// share of sign patterns whose mean is as far from 0 as the one found: of all of them where there are few, else of
// 20,000 drawn by `seed` (and the one found). Assumes nothing about the form of the distribution.
PairedDifference compare_pairs(std::span<const double> a, std::span<const double> b, std::uint64_t seed);

}  // namespace annulus
