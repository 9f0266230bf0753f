// The most probable classes.
#include "annulus/learn/model/ranking.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

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
