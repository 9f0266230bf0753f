// Training examples are found again whatever their length, and others are not.
#include "annulus/eval/score/training_match.h"

#include <gtest/gtest.h>

#include "annulus/task/few_shot_task.h"
#include "annulus/task/synthetic.h"

namespace annulus {
namespace {

TEST(TrainingMatch, FindsTheExamplesThatAModelKeeps) {
  SyntheticOptions options;
  options.classes = 3;
  options.train_rows = 4;
  options.test_rows = 4;
  options.dimension = 24;
  const FeatureSet set = make_synthetic(options);
  std::vector<std::uint32_t> training;
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (set.is_train()[i] != 0) training.push_back(i);
  }
  TrainingMatch match(keep_support(gather(set, training), {}));
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  for (std::size_t i = 0; i < set.rows(); ++i) {
    EXPECT_EQ(match.contains(rows.row(i)), set.is_train()[i] != 0) << i;
  }
  EXPECT_FALSE(match.contains(std::vector<float>(24, 0.0F)));
  EXPECT_FALSE(match.contains(std::vector<float>(3, 1.0F)));
}

TEST(TrainingMatch, OfAModelWithoutExamplesIsEmpty) {
  const TrainingMatch match{SupportSet()};
  EXPECT_TRUE(match.empty());
}

}  // namespace
}  // namespace annulus
