// The reducer of a process that sees whole batches.
#include "annulus/learn/method/gradient_reducer.h"

#include <gtest/gtest.h>

#include <vector>

namespace annulus {
namespace {

TEST(GradientReducer, UpdatesTheClassesThatLearnAtOnceAndLeavesTheGradientAlone) {
  StepGradient<float> gradient{Matrix<float>(5, 2), {}};
  gradient.weights(4, 1) = 3.0F;
  GradientReducer<float> reducer;
  reducer.prepare(gradient);
  std::vector<Slice> updated;
  reducer.reduce(gradient, [&](Slice classes) { updated.push_back(classes); });
  gradient.learning = {1, 2};
  reducer.reduce(gradient, [&](Slice classes) { updated.push_back(classes); });
  ASSERT_EQ(updated.size(), 2U);
  EXPECT_EQ(updated[0].first, 0U);
  EXPECT_EQ(updated[0].count, 5U);
  EXPECT_EQ(updated[1].first, 1U);
  EXPECT_EQ(updated[1].count, 2U);
  EXPECT_EQ(gradient.weights(4, 1), 3.0F);
}

}  // namespace
}  // namespace annulus
