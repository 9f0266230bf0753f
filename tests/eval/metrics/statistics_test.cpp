// Intervals and paired tests: known values, and simulations whose answer is known.
#include "annulus/eval/metrics/statistics.h"

#include <gtest/gtest.h>

#include <vector>

#include "annulus/base/random.h"

namespace annulus {
namespace {

TEST(Statistics, StudentQuantileHasItsTabledValues) {
  EXPECT_NEAR(student_quantile(1), 12.706, 0.001);
  EXPECT_NEAR(student_quantile(4), 2.776, 0.001);
  EXPECT_NEAR(student_quantile(5), 2.571, 0.005);
  EXPECT_NEAR(student_quantile(10), 2.228, 0.001);
  EXPECT_NEAR(student_quantile(30), 2.042, 0.001);
  EXPECT_NEAR(student_quantile(1000000), 1.960, 0.001);
}

TEST(Statistics, IntervalOfTheMeanMatchesHandComputation) {
  // Standard deviation 1, two degrees of freedom.
  EXPECT_NEAR(interval_of_mean(std::vector{1.0, 2.0, 3.0}), 4.3027 / 1.7320508, 1e-3);
  EXPECT_EQ(interval_of_mean(std::vector{5.0}), 0.0);
}

TEST(Statistics, WilsonIntervalMatchesItsFormulaAndStaysWithinItsEnds) {
  // 62 of 100 by hand: centre (0.62 + z^2 / 200) / (1 + z^2 / 100), half width z sqrt(0.62 * 0.38 / 100 + z^2 / 40000).
  EXPECT_NEAR(wilson_interval(62, 100).low, 52.2098, 0.0001);
  EXPECT_NEAR(wilson_interval(62, 100).high, 70.9024, 0.0001);
  EXPECT_EQ(wilson_interval(0, 10).low, 0.0);
  EXPECT_NEAR(wilson_interval(0, 10).high, 27.753, 0.001);
  EXPECT_NEAR(wilson_interval(10, 10).low, 72.247, 0.001);
  EXPECT_EQ(wilson_interval(10, 10).high, 100.0);
  EXPECT_EQ(wilson_interval(0, 0).low, 0.0);
  EXPECT_EQ(wilson_interval(0, 0).high, 100.0);
}

TEST(Statistics, FewPairsAreTestedByAllSignPatterns) {
  // Differences 1, 2, 3: of the 8 patterns only +++ and --- have a sum of 6.
  const auto found = compare_pairs(std::vector{2.0, 4.0, 6.0}, std::vector{1.0, 2.0, 3.0}, 0);
  EXPECT_DOUBLE_EQ(found.difference, 2.0);
  EXPECT_DOUBLE_EQ(found.p_value, 0.25);
  EXPECT_EQ(found.pairs, 3U);
}

TEST(Statistics, EqualMethodsAreNotSignificant) {
  const std::vector<double> same(100, 3.0);
  const auto found = compare_pairs(same, same, 0);
  EXPECT_EQ(found.difference, 0.0);
  EXPECT_EQ(found.p_value, 1.0);
}

// Two methods answer the queries of many episodes. How likely each is right is drawn for every episode, the same luck
// for both methods in part, around means of 70 % and 60 %: the true difference is 10 points, or none.
class KnownAnswer {
 public:
  KnownAnswer(std::uint32_t synthetic_example, double first, double second)
      : random_{3, RandomUse::kSynthetic, synthetic_example} {
    for (std::size_t e = 0; e < kEpisodes; ++e) {
      const double luck = 0.3 * (random_.uniform(used_++) - 0.5);
      a.push_back(accuracy(first + luck + own_luck()));
      b.push_back(accuracy(second + luck + own_luck()));
    }
  }

  std::vector<double> a;
  std::vector<double> b;

 private:
  static constexpr std::size_t kEpisodes = 60;
  static constexpr std::size_t kQueries = 25;

  double own_luck() { return 0.2 * (random_.uniform(used_++) - 0.5); }
  double accuracy(double right) {
    std::size_t correct = 0;
    for (std::size_t q = 0; q < kQueries; ++q) correct += random_.uniform(used_++) < right ? 1U : 0U;
    return 100.0 * static_cast<double>(correct) / static_cast<double>(kQueries);
  }

  RandomStream random_;
  std::uint64_t used_ = 0;
};

// Of 1000 intervals 95 % should hold the truth: a count below 929 or above 969 has a chance of about one in 200.
void expect_stated_rate(std::size_t covered) {
  EXPECT_GE(covered, 929U);
  EXPECT_LE(covered, 969U);
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(Statistics, IntervalsCoverTheTrueValueAtTheirNominalRate) {
  std::size_t of_mean = 0;
  std::size_t of_difference = 0;
  for (std::uint32_t synthetic_example = 0; synthetic_example < 1000; ++synthetic_example) {
    const KnownAnswer known(synthetic_example, 0.7, 0.6);
    if (std::abs(mean_of(known.a) - 70.0) <= interval_of_mean(known.a)) ++of_mean;
    std::vector<double> differences;
    for (std::size_t i = 0; i < known.a.size(); ++i) differences.push_back(known.a[i] - known.b[i]);
    if (std::abs(mean_of(differences) - 10.0) <= interval_of_mean(differences)) ++of_difference;
  }
  expect_stated_rate(of_mean);
  expect_stated_rate(of_difference);
}

TEST(Statistics, PairedTestHasItsNominalErrorRateAndDetectsADifference) {
  std::size_t false_alarms = 0;
  std::size_t found = 0;
  for (std::uint32_t synthetic_example = 0; synthetic_example < 200; ++synthetic_example) {
    const KnownAnswer alike(synthetic_example, 0.65, 0.65);
    if (compare_pairs(alike.a, alike.b, synthetic_example).p_value <= 0.05) ++false_alarms;
    const KnownAnswer apart(synthetic_example, 0.7, 0.6);
    if (compare_pairs(apart.a, apart.b, synthetic_example).p_value <= 0.05) ++found;
  }
  // 10 of 200 are to be expected; more than 20 or fewer than 2 have a chance of about one in 1000.
  EXPECT_GE(false_alarms, 2U);
  EXPECT_LE(false_alarms, 20U);
  EXPECT_GE(found, 190U);
}

}  // namespace
}  // namespace annulus
