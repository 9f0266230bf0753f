// Counts of answers, by hand.
#include "annulus/eval/tally.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/eval/run_json.h"

namespace annulus {
namespace {

TEST(Tally, CountsByHand) {
  Tally tally(3);
  Matrix<float> scores(4, 3);
  const std::vector<std::vector<float>> rows{
      {0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.1F, 0.8F, 0.1F}, {0.4F, 0.5F, 0.1F}};
  for (std::size_t i = 0; i < 4; ++i) std::copy(rows[i].begin(), rows[i].end(), scores.row(i).begin());
  const std::vector<std::uint32_t> numbers{10, 11, 12, 13};
  const std::vector<std::int32_t> truth{0, 0, 1, 0};
  const std::vector<std::int32_t> predicted{0, 1, 1, 1};
  tally.add(numbers, truth, predicted, scores.view(), true);
  const TallyResult result = tally.result();
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

TEST(Tally, TopFiveCountsThoseAhead) {
  Tally tally(7);
  Matrix<float> scores(2, 7);
  for (std::size_t c = 0; c < 7; ++c) scores(0, c) = scores(1, c) = static_cast<float>(7 - c);
  tally.add(std::vector<std::uint32_t>{0, 1}, std::vector<std::int32_t>{4, 5}, std::vector<std::int32_t>{0, 0},
            scores.view(), false);
  EXPECT_DOUBLE_EQ(tally.result().top5.value(), 50.0);
  EXPECT_FALSE(tally.result().ece);
}

TEST(Tally, WithoutScoresThereIsNeitherTopFiveNorCalibration) {
  Tally tally(2);
  tally.add(std::vector<std::uint32_t>{0}, std::vector<std::int32_t>{1}, std::vector<std::int32_t>{1}, {}, false);
  EXPECT_FALSE(tally.result().top5);
  EXPECT_FALSE(tally.result().ece);
  EXPECT_DOUBLE_EQ(tally.result().accuracy, 100.0);
}

TEST(RunJson, ARunComesBackToTheLastBit) {
  ManyWayRun run;
  run.seed = 7;
  run.accuracy = 100.0 / 3.0;
  run.epsilon = 2.1;
  run.seconds = 0.125;
  run.support_rows = 3;
  run.query_rows = 9;
  run.tally.accuracy = run.accuracy;
  run.tally.macro = 1.0 / 7.0;
  run.tally.ece = 0.1;
  run.tally.recall = {1.0 / 3.0, std::nan("")};
  run.tally.confusions = {{1, 0, 4, 99}};
  run.tally.confidence = {{0.3, 1, 2}};
  run.search = SearchResult{};
  run.search->target = 0.95;
  run.search->probes.push_back({2.5, 0.97, true, 2.5, 5.0, 0.1});
  const std::string text = run_to_json(run);
  const ManyWayRun back = run_from_json(text);
  EXPECT_EQ(run_to_json(back), text);
  EXPECT_EQ(back.accuracy, run.accuracy);
  EXPECT_EQ(back.tally.recall[0], run.tally.recall[0]);
  EXPECT_TRUE(std::isnan(back.tally.recall[1]));
  EXPECT_FALSE(back.tally.top5);
  EXPECT_EQ(back.search->probes.at(0).epsilon, 2.5);
  EXPECT_ANY_THROW(run_from_json("{}"));
}

}  // namespace
}  // namespace annulus
