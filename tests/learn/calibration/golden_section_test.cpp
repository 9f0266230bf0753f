// The search for a minimum.
#include "annulus/learn/calibration/golden_section.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(GoldenSection, FindsTheMinimumWhereverItIs) {
  for (const double least : {-1.9, -0.3, 0.0, 1.25, 2.0}) {
    int calls = 0;
    const double found = golden_section_minimum(-2.0, 2.0, 1e-3, [&](double x) {
      ++calls;
      return (x - least) * (x - least);
    });
    EXPECT_NEAR(found, least, 1e-3);
    EXPECT_EQ(calls, 20) << "two, and one for each of 18 steps: 4 * 0.618^18 < 1e-3";
  }
}

}  // namespace
}  // namespace annulus
