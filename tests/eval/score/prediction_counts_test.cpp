// Rejected examples are neither right nor wrong, and unknown inputs are counted apart.
#include "annulus/eval/score/prediction_counts.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(PredictionCounts, CountEachExampleOnce) {
  PredictionCounts counts;
  EXPECT_FALSE(counts.accuracy() || counts.false_rejections() || counts.caught());
  counts.add(0, 0, false);
  counts.add(1, 0, false);
  counts.add(1, 1, false);
  counts.add(1, 1, true);
  counts.add(kUnknownClass, 0, true);
  counts.add(kUnknownClass, 0, true);
  counts.add(kUnknownClass, 1, false);
  EXPECT_EQ(counts.accepted, 3U);
  EXPECT_EQ(counts.correct, 2U);
  EXPECT_EQ(counts.known(), 4U);
  EXPECT_DOUBLE_EQ(*counts.accuracy(), 200.0 / 3.0);
  EXPECT_DOUBLE_EQ(*counts.false_rejections(), 25.0);
  EXPECT_DOUBLE_EQ(*counts.caught(), 200.0 / 3.0);
}

}  // namespace
}  // namespace annulus
