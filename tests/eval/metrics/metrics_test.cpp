// Known values of accuracy, mean and spread.
#include "annulus/eval/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace annulus {
namespace {

TEST(AccuracyPercent, CountsCorrectPredictions) {
  EXPECT_EQ(accuracy_percent(std::vector<std::int32_t>{1, 2, 3, 0}, std::vector<std::int32_t>{1, 0, 3, 0}), 75.0);
}

TEST(Summarize, UsesTheSampleStandardDeviation) {
  const std::vector<double> values{1.0, 2.0, 6.0};
  const Summary summary = summarize(values);
  EXPECT_DOUBLE_EQ(summary.mean, 3.0);
  EXPECT_DOUBLE_EQ(summary.standard_deviation, std::sqrt((4.0 + 1.0 + 9.0) / 2.0));
}

TEST(Summarize, GivesNoSpreadToASingleValue) {
  const Summary summary = summarize(std::vector<double>{42.5});
  EXPECT_EQ(summary.mean, 42.5);
  EXPECT_EQ(summary.standard_deviation, 0.0);
}

}  // namespace
}  // namespace annulus
