// Which engine a training gets, and how many training examples share noise.
#include "annulus/learn/method/gradient_engine.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

// 12,800 noise rows are wanted of a training: 10 steps of R 20 want the smallest groups that cost no more than the rest
// of a step (20 * 4 * 64 / (20 * 32 + 4 * 64) training examples, rounded up), 640 steps are content with one group.
TEST(GradientEngine, GroupsAreAsLargeAsTheTrainingAllows) {
  const auto rows = random_examples<float>(5, 4, 64);
  const auto gains = [&](std::size_t epochs, NoiseSharing sharing, std::size_t group) {
    TrainOptions options;
    options.epochs = epochs;
    options.epsilon = 1.0;
    options.virtual_count = 20;
    options.learning_rate = 0.1;
    options.sharing = sharing;
    options.group = group;
    auto head = initial_head<float>(HeadKind::kCosine, rows.classes, rows.dimension(), 1, 0);
    train(head, rows, options);
    return head.gain;
  };
  EXPECT_EQ(gains(10, NoiseSharing::kGrouped, 0), gains(10, NoiseSharing::kGrouped, 6));
  EXPECT_NE(gains(10, NoiseSharing::kGrouped, 0), gains(10, NoiseSharing::kShared, 0));
  EXPECT_EQ(gains(640, NoiseSharing::kGrouped, 0), gains(640, NoiseSharing::kShared, 0));
}

TEST(GradientEngine, TrainingExamplesThemselvesAreUsedOnceEach) {
  const auto examples = random_examples<float>(4, 2, 6);
  TrainOptions options;
  options.virtual_count = 20;
  options.sharing = NoiseSharing::kShared;
  EXPECT_EQ(GradientEngine<float>(options, examples, RandomUse::kTrainingNoise, false, {}).virtual_count(), 1U);
  options.epsilon = 1.0;
  EXPECT_EQ(GradientEngine<float>(options, examples, RandomUse::kTrainingNoise, false, {}).virtual_count(), 20U);
}

TEST(GradientEngine, AnEmptyBatchHasNoGradient) {
  const auto examples = random_examples<float>(4, 2, 6);
  TrainOptions options;
  GradientEngine<float> engine(options, examples, RandomUse::kTrainingNoise, true, {});
  const auto weights = random_matrix<float>(4, 6, 9);
  const HeadView<float> head{HeadKind::kCosine, weights.view(), {}};
  const StepBatch<float> empty{examples.features.view().rows_at(0, 0), {}, 0, {}, 0, 2};
  StepGradient<float> gradient{random_matrix<float>(4, 6, 3), {}};
  EXPECT_EQ(engine.loss_gradient(head, empty, gradient).loss, 0.0);
  EXPECT_EQ(engine.correct(head, empty), 0.0);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(gradient.weights.data()[i], 0.0F);
}

}  // namespace
}  // namespace annulus
