// The search with interpolation, verification and expansion, on probes whose accuracies are given.
#include "annulus/learn/method/interpolated_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "annulus/learn/method/paper_bisection.h"
#include "annulus/learn/method/training_accuracy.h"
#include "tests/fixtures/fake_probe.h"
#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

constexpr double kTarget = 0.9;

// Accuracy whose log-odds fall linearly with the logarithm of the radius and reach the target at `radius`.
double accuracy_at(double epsilon, double radius, double slope) {
  const double odds = std::log(kTarget / (1.0 - kTarget)) - slope * std::log(epsilon / radius);
  return 1.0 / (1.0 + std::exp(-odds));
}

SearchOptions interpolating() {
  SearchOptions options;
  options.interpolate = true;
  options.verify_upper = true;
  options.expand = true;
  return options;
}

TEST(InterpolatedSearch, WithoutItsOptionsVisitsTheRadiiOfTheBisection) {
  for (const double radius : {0.01, 1.7, 3.3, 9.99, 20.0}) {
    const auto step = [&](std::size_t, double epsilon) { return epsilon < radius ? 1.0 : 0.0; };
    FakeProbe ours(step);
    FakeProbe papers(step);
    const double found = InterpolatedSearch(ours, {}, kTarget, 5.0).run();
    EXPECT_EQ(found, PaperBisection(papers, {}, kTarget).run());
    EXPECT_EQ(ours.radii(), papers.radii());
  }
}

// Where the log-odds are a line, the interpolated radius is exact, whatever the slope.
TEST(InterpolatedSearch, FindsTheRadiusOfALineInFewProbes) {
  for (const double radius : {0.7, 2.2, 6.0}) {
    for (const double slope : {2.0, 3.5, 6.0}) {
      FakeProbe probe([&](std::size_t, double epsilon) { return accuracy_at(epsilon, radius, slope); });
      const double found = InterpolatedSearch(probe, interpolating(), kTarget, 0.8 * radius).run();
      EXPECT_NEAR(found, radius, 1e-9 * radius) << "slope " << slope;
      EXPECT_LE(probe.probes.size(), 7U) << "radius " << radius << ", slope " << slope;
      EXPECT_EQ(probe.probes.front().epsilon, 0.8 * radius);
    }
  }
}

TEST(InterpolatedSearch, EndsAtAWidthOfEightPercentOfTheRadius) {
  FakeProbe probe([](std::size_t, double epsilon) { return accuracy_at(epsilon, 6.0, 3.5); });
  InterpolatedSearch(probe, interpolating(), kTarget, 5.0).run();
  const Probe& last = probe.probes.back();
  EXPECT_LT(last.high - last.low, 0.08 * last.low);
  EXPECT_GT(last.high - last.low, 0.05) << "wider than the tolerance of a bisection";
}

// The first probe fails by a barely trained head; the bound it set is lifted before the search ends.
TEST(InterpolatedSearch, VerifiesAnUpperBoundThatFailed) {
  const auto accuracy = [](std::size_t number, double epsilon) { return number > 0 && epsilon < 7.0 ? 1.0 : 0.0; };
  FakeProbe stuck(accuracy);
  EXPECT_LT(PaperBisection(stuck, {}, kTarget).run(), 5.0);
  SearchOptions options;
  options.verify_upper = true;
  FakeProbe verified(accuracy);
  EXPECT_NEAR(InterpolatedSearch(verified, options, kTarget, 5.0).run(), 7.0, 0.05);
  EXPECT_EQ(verified.probes[8].epsilon, 5.0) << "eight probes narrow the range, the ninth verifies its end";
}

TEST(InterpolatedSearch, VerificationNeverLeavesTheRangeUnlessItMayExpand) {
  FakeProbe probe([](std::size_t number, double) { return number > 0 ? 1.0 : 0.0; });
  SearchOptions options;
  options.verify_upper = true;
  EXPECT_NEAR(InterpolatedSearch(probe, options, kTarget, 5.0).run(), 10.0, 0.05);
  for (const double radius : probe.radii()) EXPECT_LE(radius, 10.0);
}

TEST(InterpolatedSearch, ExpandsARangeWhoseEndPasses) {
  SearchOptions options;
  options.highest = 1.0;
  options.expand = true;
  FakeProbe probe([](std::size_t, double epsilon) { return epsilon < 7.0 ? 1.0 : 0.0; });
  EXPECT_NEAR(InterpolatedSearch(probe, options, kTarget, 0.5).run(), 7.0, 0.05);
  FakeProbe capped([](std::size_t, double epsilon) { return epsilon < 7.0 ? 1.0 : 0.0; });
  EXPECT_LE(PaperBisection(capped, options, kTarget).run(), 1.0);
}

TEST(InterpolatedSearch, RecordsTheRangeAfterEveryProbe) {
  FakeProbe probe([](std::size_t, double epsilon) { return accuracy_at(epsilon, 2.0, 3.0); });
  const double found = InterpolatedSearch(probe, interpolating(), kTarget, 1.5).run();
  for (const Probe& each : probe.probes) EXPECT_LT(each.low, each.high);
  EXPECT_GE(found, probe.probes.back().low);
  EXPECT_LE(found, probe.probes.back().high);
}

TEST(PrototypeRadius, KeepsFourFifthsOfTheAccuracyOfPrototypes) {
  const auto examples = random_examples<double>(6, 3, 24);
  SearchOptions options;
  options.probe.virtual_count = 50;
  const double radius = prototype_radius(examples, options);
  Head<double> prototypes{HeadKind::kCosine, Matrix<double>(6, 24), std::vector<double>(6, 1.0), {}};
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    for (std::size_t j = 0; j < 24; ++j) {
      prototypes.direction(static_cast<std::size_t>(examples.labels[i]), j) += examples.features(i, j);
    }
  }
  const auto accuracy = [&](double epsilon) {
    TrainOptions measure = options.probe;
    measure.epsilon = epsilon;
    return training_accuracy(prototypes, examples, measure);
  };
  const double wanted = 0.8 * accuracy(0.0);
  EXPECT_GT(accuracy(radius - 10.0 / 512.0), wanted - 0.02);
  EXPECT_LT(accuracy(radius + 10.0 / 512.0), wanted + 0.02);
  EXPECT_GT(radius, 0.1);
}

}  // namespace
}  // namespace annulus
