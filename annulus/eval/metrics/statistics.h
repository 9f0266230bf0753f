// Intervals and paired tests of repeated measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace annulus {

/// The 97.5 % quantile of Student's t with that many degrees of freedom (at least 1), within 0.2 %.
double student_quantile(std::size_t degrees_of_freedom);

/// Half the width of the 95 % interval of the mean of independent values; 0 for fewer than two.
double interval_of_mean(std::span<const double> values);

/// The ends of a 95 % interval, in percent.
struct PercentInterval {
  double low = 0.0;     ///< From 0.
  double high = 100.0;  ///< To 100.
};

/// The interval of a fraction of which `part` of `whole` independent cases were observed, by Wilson's formula; 0 to 100
/// where `whole` is 0. It stays within 0 and 100, and has a width also where all or none were observed.
PercentInterval wilson_interval(std::size_t part, std::size_t whole);

/// The mean of the paired differences a - b.
struct PairedDifference {
  double difference = 0.0;  ///< Mean of a - b
  double interval = 0.0;    ///< Half the width of its 95 % interval
  double p_value = 1.0;     ///< Two-sided; 1 where all differences are 0
  std::size_t pairs = 0;    ///< How many.
};

/// Sign-flip test: if both were equally good, each difference would be as likely with the other sign. The p-value is
/// the fraction of sign patterns whose mean is at least as far from 0 as the observed one: of all patterns where there
/// are few, else of 20,000 sampled with `seed` (and the observed one). It assumes nothing about the distribution.
PairedDifference compare_pairs(std::span<const double> a, std::span<const double> b, std::uint64_t seed);

}  // namespace annulus
