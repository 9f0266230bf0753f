// Adam's first step against its formula, and what a checkpoint keeps of a head in training.
#include "annulus/learn/method/head_updater.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

// In its first step Adam moves every number by rate * g / (|g| + 1e-8).
TEST(HeadUpdater, TheFirstStepMovesByTheRate) {
  Head<double> head = initial_head<double>(HeadKind::kLinear, 4, 3, 1, 0);
  const Head<double> before = head.clone();
  HeadUpdater<double> updater(head);
  StepGradient<double> gradient{random_matrix<double>(4, 3, 1), {0.5, -0.5, 0.25, 1.0}};
  updater.update(gradient, {1, 2}, 0.125, 1, 1);
  for (std::size_t c = 0; c < 4; ++c) {
    const bool updated = c == 1 || c == 2;
    const auto moved = [&](double start, double slope) {
      return updated ? start - 0.125 * slope / (std::abs(slope) + 1e-8) : start;
    };
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(head.direction(c, j), moved(before.direction(c, j), gradient.weights(c, j)), 1e-9);
    }
    EXPECT_NEAR(head.bias[c], moved(before.bias[c], gradient.bias[c]), 1e-9);
  }
}

TEST(HeadUpdater, TheViewHasTheEffectiveWeightsOfTheUpdatedHead) {
  Head<double> head = initial_head<double>(HeadKind::kCosine, 4, 3, 1, 0);
  HeadUpdater<double> updater(head);
  StepGradient<double> gradient{random_matrix<double>(4, 3, 1), {}};
  for (std::size_t step = 1; step < 4; ++step) updater.update(gradient, {0, 4}, 0.1, step, 1);
  Matrix<double> weights(4, 3);
  effective_weights(head, weights.view());
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(updater.view().weights(c, j), weights(c, j), 1e-12);
  }
}

TEST(HeadUpdater, ACheckpointKeepsTheHeadAndAllThatTheNextStepDependsOn) {
  Head<float> head = initial_head<float>(HeadKind::kCosine, 2, 3, 1, 0);
  HeadUpdater<float> updater(head);
  const std::vector<KeptNumbers> kept = updater.kept_head(4, 9);  // classes 4 and 5 of 9
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].numbers.data(), head.direction.data());
  EXPECT_EQ(kept[0].numbers.size(), 6U);
  EXPECT_EQ(kept[0].first, 12U);
  EXPECT_EQ(kept[0].total, 27U);
  EXPECT_EQ(kept[1].numbers.data(), head.gain.data());
  EXPECT_EQ(kept[1].first, 4U);
  EXPECT_EQ(kept[1].total, 9U);
  EXPECT_EQ(updater.kept_state(4, 9).size(), 7U) << "head, effective weights, two moments of directions and of gains";
}

}  // namespace
}  // namespace annulus
