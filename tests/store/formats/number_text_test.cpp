// Numbers in text: all of the text is one finite float, or it is none.
#include "annulus/store/formats/number_text.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(ParseFeature, TakesNumbersThatAFloatCanHold) {
  float value = 0.0F;
  EXPECT_TRUE(parse_feature("-2e-1", value));
  EXPECT_EQ(value, -0.2F);
  EXPECT_TRUE(parse_feature("+3", value));
  EXPECT_EQ(value, 3.0F);
  EXPECT_TRUE(parse_feature("1e-60", value)) << "too small is 0";
  EXPECT_EQ(value, 0.0F);
}

TEST(ParseFeature, LeavesNothingOver) {
  float value = 0.0F;
  for (const char* text : {"", "1,5", "1 ", " 1", "0x10", "nan", "inf", "1e39", "--1", "abc"}) {
    EXPECT_FALSE(parse_feature(text, value)) << text;
  }
}

}  // namespace
}  // namespace annulus
