// Student's quantile by its expansion in 1 / degrees of freedom; the sign-flip test by enumeration or sampling.
#include "annulus/eval/metrics/statistics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "annulus/base/random.h"
#include "annulus/eval/metrics/metrics.h"

namespace annulus {
namespace {

constexpr std::size_t kMostPatternsInFull = 14;  // pairs: 16,384 patterns
constexpr std::size_t kPatterns = 20000;
constexpr double kNormal = 1.959963984540054;  // 97.5 % quantile of the normal distribution
constexpr double kSlack = 1e-12;               // sums of the same values in another order count as equal

// Fraction of all sign patterns with a sum as far from 0.
double p_value_in_full(std::span<const double> differences, double found) {
  const std::size_t patterns = std::size_t{1} << differences.size();
  std::size_t as_far = 0;
  for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
    double sum = 0.0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      sum += ((pattern >> i) & 1U) != 0 ? -differences[i] : differences[i];
    }
    if (std::abs(sum) >= found) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(patterns);
}

double p_value_by_sampling(std::span<const double> differences, double found, std::uint64_t seed) {
  const RandomStream stream{seed, RandomUse::kSignFlips, 0};
  const std::size_t words = (differences.size() + 31) / 32;
  std::size_t as_far = 1;  // the observed pattern is one of them
  for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
    double sum = 0.0;
    for (std::size_t word = 0, i = 0; word < words; ++word) {
      auto signs = static_cast<std::uint32_t>(stream.below(pattern * words + word, std::uint64_t{1} << 32));
      for (std::size_t end = std::min(differences.size(), i + 32); i < end; ++i, signs >>= 1) {
        sum += (signs & 1U) != 0 ? -differences[i] : differences[i];
      }
    }
    if (std::abs(sum) >= found) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(kPatterns + 1);
}

}  // namespace

double student_quantile(std::size_t degrees_of_freedom) {
  assert(degrees_of_freedom >= 1);
  constexpr std::array kExact{12.706, 4.3027, 3.1824, 2.7764};
  if (degrees_of_freedom <= kExact.size()) return kExact[degrees_of_freedom - 1];
  constexpr double kSquare = kNormal * kNormal;
  const auto n = static_cast<double>(degrees_of_freedom);
  const double first = kNormal * (kSquare + 1.0) / 4.0;
  const double second = kNormal * ((5.0 * kSquare + 16.0) * kSquare + 3.0) / 96.0;
  const double third = kNormal * (((3.0 * kSquare + 19.0) * kSquare + 17.0) * kSquare - 15.0) / 384.0;
  return kNormal + (first + (second + third / n) / n) / n;
}

double interval_of_mean(std::span<const double> values) {
  if (values.size() < 2) return 0.0;
  return student_quantile(values.size() - 1) * summarize(values).standard_deviation /
         std::sqrt(static_cast<double>(values.size()));
}

PercentInterval wilson_interval(std::size_t part, std::size_t whole) {
  assert(part <= whole);
  if (whole == 0) return {};
  const auto n = static_cast<double>(whole);
  const double fraction = static_cast<double>(part) / n;
  constexpr double kSquare = kNormal * kNormal;
  const double middle = fraction + 0.5 * kSquare / n;
  const double half = kNormal * std::sqrt(fraction * (1.0 - fraction) / n + 0.25 * kSquare / (n * n));
  const double scale = 100.0 / (1.0 + kSquare / n);
  // At the ends the formula gives 0 and 100 up to rounding.
  return {part == 0 ? 0.0 : scale * (middle - half), part == whole ? 100.0 : scale * (middle + half)};
}

PairedDifference compare_pairs(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  assert(a.size() == b.size());
  PairedDifference result;
  result.pairs = a.size();
  if (a.empty()) return result;
  std::vector<double> differences(a.size());
  double sum = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences[i] = a[i] - b[i];
    sum += differences[i];
    size += std::abs(differences[i]);
  }
  result.difference = sum / static_cast<double>(a.size());
  result.interval = interval_of_mean(differences);
  if (size == 0.0) return result;
  const double found = std::abs(sum) - kSlack * size;
  result.p_value = a.size() <= kMostPatternsInFull ? p_value_in_full(differences, found)
                                                   : p_value_by_sampling(differences, found, seed);
  return result;
}

}  // namespace annulus
