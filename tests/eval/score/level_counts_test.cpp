// Scores of groups of classes.
#include "annulus/eval/score/level_counts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annulus {
namespace {

TEST(LevelCounts, CountWhatIsNamedAndEveryLevel) {
  const std::vector<std::string> names{"downy", "hairy", "oak"};
  const ClassTree tree(names, {{"downy", "woodpeckers"}, {"hairy", "woodpeckers"}});
  LevelCounts counts(tree);
  const auto add = [&](std::size_t truth, std::vector<float> probabilities) {
    Prediction prediction;
    prediction.lineage = tree.lineage(probabilities);
    prediction.level = sure_level(prediction.lineage, 0.75);
    counts.add(truth, prediction);
  };
  add(0, {0.5F, 0.375F, 0.125F});   // woodpeckers: right, and downy would be
  add(1, {0.5F, 0.375F, 0.125F});   // woodpeckers: right, and downy would not be
  add(2, {0.75F, 0.125F, 0.125F});  // downy: wrong
  add(2, {0.0F, 0.125F, 0.875F});   // oak, a class at the top
  counts.add(0, Prediction{});      // says nothing of groups
  const GroupScore score = counts.score(0.75);
  EXPECT_EQ(score.sure, 0.75);
  EXPECT_EQ(score.right, 75.0);
  EXPECT_EQ(score.named_classes, 50.0);
  ASSERT_EQ(score.levels.size(), 2U);
  EXPECT_EQ(score.levels[0].examples, 4U);
  EXPECT_EQ(score.levels[0].accuracy, 75.0);
  EXPECT_EQ(score.levels[1].examples, 3U);
  EXPECT_NEAR(score.levels[1].accuracy, 100.0 / 3.0, 1e-9);
  // Four predictions of 0.875 at the top, of which three are right; they share a bin.
  EXPECT_NEAR(score.levels[0].calibration_error, 12.5, 1e-6);
}

}  // namespace
}  // namespace annulus
