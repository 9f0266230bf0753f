// Numbers of results as people read them.
#include "annulus/report/tables/result_text.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(ResultText, ShotsRadiiAndColours) {
  EXPECT_EQ(shots_text(5), "5");
  EXPECT_EQ(shots_text(0), "all");
  EXPECT_EQ(epsilon_text(0.0), "-");
  EXPECT_EQ(epsilon_text(2.3451), "2.345");
  EXPECT_EQ(red_text("x", false), "x");
  EXPECT_NE(red_text("x", true), "x");
}

TEST(ResultText, SecondsHaveTheDigitsThatMatter) {
  EXPECT_EQ(seconds_text(12.34), "12.3");
  EXPECT_EQ(seconds_text(0.004), "0.004");
  EXPECT_EQ(seconds_text(0.0001), "< 0.001");
}

}  // namespace
}  // namespace annulus
