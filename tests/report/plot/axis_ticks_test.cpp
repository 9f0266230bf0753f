// Round numbers for axes.
#include "annulus/report/plot/axis_ticks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace annulus {
namespace {

TEST(AxisTicks, AreRoundEvenAndCoverTheData) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{
           {0, 1}, {20.4, 48.2}, {-3.7, 9.1}, {0.001, 0.0017}, {99.2, 99.9}, {-1e9, 1e9}, {5, 5}, {0, 0}, {7, 3}}) {
    const Axis axis = linear_axis(low, high, 5);
    EXPECT_LE(axis.low, std::min(low, high));
    EXPECT_GE(axis.high, std::max(low, high));
    ASSERT_GE(axis.ticks.size(), 2U);
    EXPECT_LE(axis.ticks.size(), 9U);
    const double step = axis.ticks[1] - axis.ticks[0];
    const double leading = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
    EXPECT_TRUE(std::abs(leading - 1) < 1e-6 || std::abs(leading - 2) < 1e-6 || std::abs(leading - 5) < 1e-6)
        << leading;
    for (std::size_t i = 1; i < axis.ticks.size(); ++i)
      EXPECT_NEAR(axis.ticks[i] - axis.ticks[i - 1], step, 1e-6 * step);
    EXPECT_EQ(axis.position(axis.low), 0.0);
    EXPECT_EQ(axis.position(axis.high), 1.0);
  }
}

TEST(AxisTicks, LabelsHaveTheDecimalsThatTheStepNeeds) {
  EXPECT_EQ(tick_labels(linear_axis(0.0, 100.0, 5)), (std::vector<std::string>{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(tick_labels(linear_axis(-0.1, 0.1, 4)),
            (std::vector<std::string>{"−0.10", "−0.05", "0.00", "0.05", "0.10"}));
  EXPECT_EQ(tick_labels(log_axis(0.02, 30.0)), (std::vector<std::string>{"0.01", "0.1", "1", "10", "100"}));
}

TEST(AxisTicks, LogAxisTakesAnything) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{0, 0}, {1, 1}, {0, 1e12}, {1e-3, 2e-3}}) {
    const Axis axis = log_axis(low, high);
    EXPECT_GT(axis.high, axis.low);
    EXPECT_LE(axis.ticks.size(), 10U);
    for (const double value : {0.0, low, high, 1e300}) {
      EXPECT_GE(axis.position(value), 0.0);
      EXPECT_LE(axis.position(value), 1.0);
    }
  }
}

}  // namespace
}  // namespace annulus
