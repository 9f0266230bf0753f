// Thresholds lie where the quantiles say.
#include "annulus/learn/openset/rejection_rule.h"

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

TEST(UnknownRule, CatchRatesAreInterpolatedWhereTheyAreKnown) {
  UnknownRule rule;
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) rule.quantiles.push_back(static_cast<float>(i));
  EXPECT_EQ(unknown_catch_rate(rule, 0.05), std::nullopt);
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) {
    rule.caught.push_back(0.2F + 0.8F * static_cast<float>(i) / static_cast<float>(kUnknownQuantiles - 1));
  }
  EXPECT_NEAR(*unknown_catch_rate(rule, 0.05), 0.24, 1e-6);
  EXPECT_NEAR(*unknown_catch_rate(rule, 0.055), 0.244, 1e-6);
  EXPECT_NEAR(*unknown_catch_rate(rule, 1.0), 1.0, 1e-6);
  EXPECT_EQ(unknown_catch_rate(rule, 0.0), 0.0);  // nothing is rejected
}

}  // namespace
}  // namespace annulus
