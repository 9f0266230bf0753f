// Classes sorted by the baseline and divided into bins.
#include "annulus/eval/metrics/class_gain.h"

#include <gtest/gtest.h>

#include <limits>

#include "annulus/base/error.h"

namespace annulus {
namespace {

TEST(ClassGain, SortsByTheBaselineAndAveragesEachBin) {
  const std::vector<double> baseline{80, 0, 40, 20, 60, 100};
  const std::vector<double> method{70, 10, 50, 20, 90, 100};
  const ClassGain gain = class_gain(baseline, method, 3);
  ASSERT_EQ(gain.bins.size(), 3U);
  EXPECT_DOUBLE_EQ(gain.bins[0].baseline, 10.0);  // classes 1 and 3
  EXPECT_DOUBLE_EQ(gain.bins[0].gain, 5.0);
  EXPECT_DOUBLE_EQ(gain.bins[1].gain, 20.0);  // classes 2 and 4
  EXPECT_DOUBLE_EQ(gain.bins[2].gain, -5.0);  // classes 0 and 5
  EXPECT_NEAR(gain.improved, 50.0, 1e-9);
  EXPECT_NEAR(gain.worsened, 100.0 / 6.0, 1e-9);
}

TEST(ClassGain, BinsDifferByAtMostOneClassAndHoldAll) {
  std::vector<double> recall(23, 50.0);
  recall[4] = std::numeric_limits<double>::quiet_NaN();  // no test example
  const ClassGain gain = class_gain(recall, std::vector<double>(23, 51.0));
  EXPECT_EQ(gain.classes, 22U);
  ASSERT_EQ(gain.bins.size(), 10U);
  std::size_t classes = 0;
  for (const GainBin& bin : gain.bins) {
    EXPECT_TRUE(bin.classes == 2 || bin.classes == 3) << bin.classes;
    EXPECT_NEAR(bin.gain, 1.0, 1e-12);
    classes += bin.classes;
  }
  EXPECT_EQ(classes, 22U);
  EXPECT_EQ(class_gain(std::vector<double>{1, 2}, std::vector<double>{1, 2}).bins.size(), 2U);
}

TEST(ClassGain, NothingToCompareGivesNoBins) {
  EXPECT_TRUE(class_gain({}, {}).bins.empty());
  EXPECT_THROW(class_gain(std::vector<double>{1}, {}), Error);
}

}  // namespace
}  // namespace annulus
