// Thresholds lie where the quantiles say.
#include "annulus/learn/unknown_rule.h"

#include <gtest/gtest.h>

#include <limits>

namespace annulus {
namespace {

TEST(UnknownRule, ThresholdsAreInterpolatedQuantiles) {
  UnknownRule rule;
  EXPECT_TRUE(rule.empty());
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) rule.quantiles.push_back(static_cast<float>(i * i));
  EXPECT_FALSE(rule.empty());
  EXPECT_EQ(unknown_threshold(rule, 0.05), 25.0F);
  EXPECT_NEAR(unknown_threshold(rule, 0.055), 30.5F, 1e-4F);
  EXPECT_EQ(unknown_threshold(rule, 1.0), 10000.0F);
  EXPECT_EQ(unknown_threshold(rule, 0.0), -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace annulus
