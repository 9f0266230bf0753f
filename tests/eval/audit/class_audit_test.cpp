// Classes that are hard.
#include "annulus/eval/audit/class_audit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(ClassAudit, SharesOfFewTrialsCountForLess) {
  EXPECT_EQ(least_fraction(0, 0), 0.0);
  EXPECT_LT(least_fraction(2, 4), least_fraction(20, 40));
  EXPECT_NEAR(least_fraction(50, 100), 0.4038, 1e-3);
}

}  // namespace
}  // namespace annulus
