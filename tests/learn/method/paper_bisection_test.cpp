// Algorithm 1 on probes whose accuracies are given: the radii it visits, the ranges it records, the radius it returns.
#include "annulus/learn/method/paper_bisection.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/fixtures/fake_probe.h"

namespace annulus {
namespace {

TEST(PaperBisection, VisitsTheMiddlesUntilTheRangeIsNarrowerThanTheTolerance) {
  FakeProbe probe([](std::size_t, double epsilon) { return epsilon < 3.3 ? 0.95 : 0.5; });
  SearchOptions options;  // [0, 10], tolerance 0.05
  const double epsilon = PaperBisection(probe, options, 0.9).run();
  EXPECT_EQ(probe.radii(), (std::vector<double>{5.0, 2.5, 3.75, 3.125, 3.4375, 3.28125, 3.359375, 3.3203125}));
  EXPECT_DOUBLE_EQ(epsilon, (3.28125 + 3.3203125) / 2.0);
}

TEST(PaperBisection, MovesTheLowerBoundUpAboveTheTargetAndTheUpperBoundDownOtherwise) {
  FakeProbe probe([](std::size_t number, double) { return number == 0 ? 0.91 : 0.9; });  // 0.9 is not above the target
  SearchOptions options;
  options.lowest = 2.0;
  options.highest = 4.0;
  options.tolerance = 0.6;
  EXPECT_DOUBLE_EQ(PaperBisection(probe, options, 0.9).run(), 3.25);
  ASSERT_EQ(probe.probes.size(), 2U);
  EXPECT_EQ(probe.probes[0].epsilon, 3.0);
  EXPECT_EQ(probe.probes[0].low, 3.0);
  EXPECT_EQ(probe.probes[0].high, 4.0);
  EXPECT_EQ(probe.probes[1].epsilon, 3.5);
  EXPECT_EQ(probe.probes[1].low, 3.0);
  EXPECT_EQ(probe.probes[1].high, 3.5);
}

// The known weakness of the algorithm: a probe that fails by chance caps the range for good.
TEST(PaperBisection, AFailureIsNeverProbedAgain) {
  FakeProbe probe([](std::size_t number, double) { return number == 0 ? 0.1 : 1.0; });
  const double epsilon = PaperBisection(probe, {}, 0.9).run();
  EXPECT_EQ(probe.probes.size(), 8U);
  EXPECT_LT(epsilon, 5.0);
  EXPECT_GT(epsilon, 4.95);
}

TEST(PaperBisection, ARangeNarrowerThanTheToleranceHasNoProbe) {
  FakeProbe probe([](std::size_t, double) { return 1.0; });
  SearchOptions options;
  options.lowest = 1.0;
  options.highest = 1.04;
  EXPECT_DOUBLE_EQ(PaperBisection(probe, options, 0.9).run(), 1.02);
  EXPECT_TRUE(probe.probes.empty());
}

}  // namespace
}  // namespace annulus
