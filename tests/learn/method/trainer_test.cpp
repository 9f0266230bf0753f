// The loop: bits against threads, orders, classes that stay, rates, and who may look.
#include "annulus/learn/method/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

class SameBits : public ::testing::TestWithParam<NoiseSharing> {};

TEST_P(SameBits, ForOneTwoAndFourThreads) {
  const auto rows = random_examples<float>(60, 5, 33);
  TrainOptions options;
  options.epochs = 3;
  options.batch = 128;
  options.epsilon = 1.5;
  options.virtual_count = 12;
  options.sharing = GetParam();
  options.antithetic = GetParam() != NoiseSharing::kIndependent;
  options.learning_rate = 0.1;
  std::vector<Head<float>> heads;
  for (const int threads : {1, 2, 4}) {
    options.threads = threads;
    heads.push_back(initial_head<float>(HeadKind::kCosine, rows.classes, rows.dimension(), 1, 0));
    train(heads.back(), rows, options);
    const std::size_t bytes = rows.classes * rows.dimension() * sizeof(float);
    EXPECT_EQ(std::memcmp(heads.front().direction.data(), heads.back().direction.data(), bytes), 0)
        << threads << " threads";
    EXPECT_EQ(heads.front().gain, heads.back().gain);
  }
  options.seed = 1;
  auto other = initial_head<float>(HeadKind::kCosine, rows.classes, rows.dimension(), 1, 0);
  train(other, rows, options);
  EXPECT_NE(heads.front().gain, other.gain) << "another seed must give another head";
}

INSTANTIATE_TEST_SUITE_P(EveryNoise, SameBits,
                         ::testing::Values(NoiseSharing::kIndependent, NoiseSharing::kShared, NoiseSharing::kGrouped));

TEST(Training, AnOrderOfSomeRowsIsTakenInEveryEpoch) {
  const auto rows = random_examples<float>(5, 3, 7);
  auto head = initial_head<float>(HeadKind::kCosine, 5, 7, 0, 0);
  TrainOptions options;
  options.batch = 4;
  options.epochs = 3;
  options.threads = 1;
  TrainHooks<float> hooks;
  hooks.order = [](std::size_t) { return std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}; };  // of 15 rows
  EXPECT_EQ(train(head, rows, options, {}, hooks).steps, 6U);
}

// In one step a class moves as it does when all learn; the others do not move.
TEST(Training, SomeClassesLearnWhileTheOthersStay) {
  const TrainingExamples<float> rows = random_examples<float>(6, 4, 9);
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    for (const NoiseSharing sharing : {NoiseSharing::kIndependent, NoiseSharing::kShared}) {
      TrainOptions options;
      options.epochs = 1;
      options.epsilon = 1.5;
      options.virtual_count = 8;
      options.sharing = sharing;
      const Head<float> before = initial_head<float>(kind, 6, 9, 1, 2);
      Head<float> all = before.clone();
      Head<float> some = before.clone();
      train(all, rows, options);
      options.learning = {2, 3};
      train(some, rows, options);
      for (std::size_t c = 0; c < 6; ++c) {
        const bool learns = c >= 2 && c < 5;
        const Head<float>& expected = learns ? all : before;
        for (std::size_t j = 0; j < 9; ++j) EXPECT_NEAR(some.direction(c, j), expected.direction(c, j), 1e-6F);
        EXPECT_NE(all.direction(c, 0), before.direction(c, 0));
        const auto& number = kind == HeadKind::kCosine ? &Head<float>::gain : &Head<float>::bias;
        EXPECT_NEAR((some.*number)[c], (expected.*number)[c], 1e-6F);
      }
    }
  }
}

TEST(Training, TheRateIsScaledByTheBatchAndDecaysToZero) {
  TrainOptions options;
  options.learning_rate = 0.5;
  options.batch = 512;
  options.epochs = 4;
  EXPECT_DOUBLE_EQ(decayed_learning_rate(options, 0), 1.0);
  EXPECT_DOUBLE_EQ(decayed_learning_rate(options, 2), 0.5);
  EXPECT_NEAR(decayed_learning_rate(options, 4), 0.0, 1e-15);
}

TEST(Training, NamesTheOptionThatIsOutOfRange) {
  const auto refused = [](const char* words, const auto& change) {
    TrainOptions options;
    change(options);
    expect_error(ErrorKind::kUsage, words, [&] { check_options(options); });
  };
  refused("batch", [](TrainOptions& options) { options.batch = 0; });
  refused("virtual example", [](TrainOptions& options) { options.virtual_count = 0; });
  refused("epsilon", [](TrainOptions& options) { options.epsilon = -1.0; });
  refused("learning rate", [](TrainOptions& options) { options.learning_rate = 0.0; });
  refused("label smoothing", [](TrainOptions& options) { options.label_smoothing = 1.0; });
  EXPECT_NO_THROW(check_options({}));
}

TEST(Training, SaysThatItDiverged) {
  auto examples = random_examples<float>(3, 2, 5);
  examples.features(0, 0) = std::numeric_limits<float>::quiet_NaN();
  auto head = initial_head<float>(HeadKind::kCosine, 3, 5, 0, 0);
  TrainOptions options;
  options.epochs = 2;
  expect_error(ErrorKind::kInput, "training diverged", [&] { train(head, examples, options); });
}

TEST(Training, AnEpochMayBeTheLastOne) {
  const auto examples = random_examples<float>(3, 2, 5);
  auto head = initial_head<float>(HeadKind::kCosine, 3, 5, 0, 0);
  TrainOptions options;
  options.epochs = 10;
  std::size_t steps = 0;
  TrainHooks<float> hooks;
  hooks.after_step = [&](const StepRecord<float>& record) { EXPECT_EQ(record.step, steps++); };
  hooks.after_epoch = [](const EpochRecord& record) { return record.epoch == 2; };
  EXPECT_EQ(train(head, examples, options, {}, hooks).steps, 3U);
  EXPECT_EQ(steps, 3U);
}

}  // namespace
}  // namespace annulus
