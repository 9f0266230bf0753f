// Metrics of predictions, computed by hand.
#include "annulus/eval/metrics/metric_accumulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "annulus/learn/calibration/calibration.h"

namespace annulus {
namespace {

TEST(MetricAccumulator, MatchesHandComputedMetrics) {
  MetricAccumulator metrics(3);
  Matrix<float> scores(4, 3);
  const std::vector<std::vector<float>> rows{
      {0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.1F, 0.8F, 0.1F}, {0.4F, 0.5F, 0.1F}};
  for (std::size_t i = 0; i < 4; ++i) std::copy(rows[i].begin(), rows[i].end(), scores.row(i).begin());
  const std::vector<std::uint32_t> numbers{10, 11, 12, 13};
  const std::vector<std::int32_t> truth{0, 0, 1, 0};
  const std::vector<std::int32_t> predicted{0, 1, 1, 1};
  metrics.add(numbers, truth, predicted, scores.view(), true);
  const MetricResult result = metrics.result();
  EXPECT_DOUBLE_EQ(result.accuracy, 50.0);
  EXPECT_DOUBLE_EQ(result.top5.value(), 100.0);
  EXPECT_NEAR(result.recall[0], 100.0 / 3.0, 1e-9);
  EXPECT_DOUBLE_EQ(result.recall[1], 100.0);
  EXPECT_TRUE(std::isnan(result.recall[2]));
  EXPECT_NEAR(result.macro, (100.0 / 3.0 + 100.0) / 2.0, 1e-9);
  ASSERT_EQ(result.confusions.size(), 1U);
  EXPECT_EQ(result.confusions[0].count, 2U);
  EXPECT_EQ(result.confusions[0].example, 11U);
  // Bins of 0.8 (two rows, both right), 0.6 (wrong) and 0.5 (wrong).
  EXPECT_NEAR(result.ece.value(), 100.0 * (std::abs(1.6 - 2.0) + 0.6 + 0.5) / 4.0, 1e-4);
}

// Both are the expected calibration error; they sum in another order, and numbers of either are published.
TEST(MetricAccumulator, CalibrationErrorIsThatOfHeldOutRows) {
  constexpr std::size_t kRows = 200;
  Calibration held_out{1.0, {}, Matrix<float>(kRows, 2), {}};
  std::vector<std::uint32_t> numbers;
  std::vector<std::int32_t> predicted;
  for (std::size_t i = 0; i < kRows; ++i) {
    const float first = static_cast<float>(i * 37 % kRows) / static_cast<float>(kRows);
    held_out.probabilities(i, 0) = first;
    held_out.probabilities(i, 1) = 1.0F - first;
    held_out.labels.push_back(i % 3 == 0 ? 0 : 1);
    predicted.push_back(first >= 1.0F - first ? 0 : 1);
    numbers.push_back(static_cast<std::uint32_t>(i));
  }
  MetricAccumulator metrics(2);
  metrics.add(numbers, held_out.labels, predicted, held_out.probabilities.view(), true);
  const HeldOutQuality quality = quality_of(held_out);
  EXPECT_GT(quality.calibration_error, 0.1);
  EXPECT_NEAR(metrics.result().ece.value(), 100.0 * quality.calibration_error, 1e-10);
  EXPECT_NEAR(metrics.result().accuracy, 100.0 * quality.accuracy, 1e-10);
}

TEST(MetricAccumulator, TopFiveCountsThoseAhead) {
  MetricAccumulator metrics(7);
  Matrix<float> scores(2, 7);
  for (std::size_t c = 0; c < 7; ++c) scores(0, c) = scores(1, c) = static_cast<float>(7 - c);
  metrics.add(std::vector<std::uint32_t>{0, 1}, std::vector<std::int32_t>{4, 5}, std::vector<std::int32_t>{0, 0},
              scores.view(), false);
  EXPECT_DOUBLE_EQ(metrics.result().top5.value(), 50.0);
  EXPECT_FALSE(metrics.result().ece);
}

TEST(MetricAccumulator, WithoutScoresThereIsNeitherTopFiveNorCalibration) {
  MetricAccumulator metrics(2);
  metrics.add(std::vector<std::uint32_t>{0}, std::vector<std::int32_t>{1}, std::vector<std::int32_t>{1}, {}, false);
  EXPECT_FALSE(metrics.result().top5);
  EXPECT_FALSE(metrics.result().ece);
  EXPECT_DOUBLE_EQ(metrics.result().accuracy, 100.0);
}

}  // namespace
}  // namespace annulus
