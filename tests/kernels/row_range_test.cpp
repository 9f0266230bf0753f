// Rows beyond the range of squares keep their direction, others every bit.
#include "annulus/kernels/row_range.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace annulus {
namespace {

TEST(RowRange, RowsInRangeStayAsTheyAre) {
  for (const float size : {1.0F, 1e-12F, 1e12F, 0.0F}) {
    std::vector<float> row{size, -0.3F * size, 0.0F};
    const std::vector<float> before = row;
    EXPECT_TRUE(is_in_range(row));
    bring_into_range(row);
    EXPECT_EQ(row, before);
  }
}

TEST(RowRange, OthersKeepTheirDirection) {
  for (const float size : {3e38F, 1e20F, 2e15F, 5e-16F, 1e-30F, 1e-36F}) {
    std::vector<float> row{-size, 0.5F * size, 0.0F, 0.25F * size};
    EXPECT_FALSE(is_in_range(row)) << size;
    bring_into_range(row);
    EXPECT_TRUE(is_in_range(row)) << size;
    EXPECT_GE(std::fabs(row[0]), 1.0F);
    EXPECT_LT(std::fabs(row[0]), 2.0F);
    EXPECT_EQ(row[1], -0.5F * row[0]);
    EXPECT_EQ(row[3], -0.25F * row[0]);
    EXPECT_EQ(row[2], 0.0F);
  }
}

TEST(RowRange, TheSmallestNumbersThereAreMayBeScaled) {
  std::vector<float> row{std::numeric_limits<float>::denorm_min(), -4.0F * std::numeric_limits<float>::denorm_min()};
  bring_into_range(row);
  EXPECT_EQ(row, (std::vector<float>{0.25F, -1.0F}));
}

TEST(RowRange, WhatIsNotFiniteIsLeftToOthers) {
  for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> row{1e30F, odd};
    EXPECT_TRUE(is_in_range(row));
    bring_into_range(row);
    EXPECT_EQ(row[0], 1e30F);
  }
}

}  // namespace
}  // namespace annulus
