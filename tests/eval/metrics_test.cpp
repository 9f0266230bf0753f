// Known answers of the summary numbers.
#include "annulus/eval/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "annulus/eval/ranking.h"

namespace annulus {
namespace {

TEST(AccuracyPercent, CountsRightAnswers) {
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

TEST(MostProbable, RanksByProbabilityThenIndex) {
  const auto ranked = most_probable(std::vector<float>{0.1F, 0.3F, 0.2F, 0.3F, 0.1F}, 4);
  ASSERT_EQ(ranked.size(), 4U);
  EXPECT_EQ(ranked[0].index, 1);
  EXPECT_EQ(ranked[1].index, 3);
  EXPECT_EQ(ranked[2].index, 2);
  EXPECT_EQ(ranked[3].index, 0);
  EXPECT_EQ(ranked[3].probability, 0.1F);
}

TEST(MostProbable, ListsNoMoreClassesThanThereAre) {
  EXPECT_EQ(most_probable(std::vector<float>{0.5F, 0.5F}, 5).size(), 2U);
}

}  // namespace
}  // namespace annulus
