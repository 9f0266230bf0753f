// Medians and spreads that a few wild values do not move.
#include "annulus/eval/metrics/robust.h"

#include <gtest/gtest.h>

#include <vector>

namespace annulus {
namespace {

TEST(Median, IsTheMiddleValueTheUpperOfTwo) {
  EXPECT_EQ(median({3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({4.0, 1.0, 3.0, 2.0}), 3.0);
}

TEST(RobustScale, WildValuesDoNotMoveIt) {
  const RobustScale plain = robust_scale({1.0, 2.0, 3.0, 4.0, 5.0});
  const RobustScale wild = robust_scale({1.0, 2.0, 3.0, 4.0, 5e9});
  EXPECT_EQ(plain.middle, 3.0);
  EXPECT_EQ(wild.middle, 3.0);
  EXPECT_DOUBLE_EQ(plain.spread, 1.4826);
  EXPECT_DOUBLE_EQ(wild.spread, 1.4826);
  EXPECT_DOUBLE_EQ(plain.standardised(3.0 + 1.4826), 1.0);
}

TEST(RobustScale, EqualValuesHaveASpreadAboveZero) {
  EXPECT_GT(robust_scale({2.0, 2.0, 2.0}).spread, 0.0);
  EXPECT_EQ(robust_scale({}).spread, 1.0);
}

}  // namespace
}  // namespace annulus
