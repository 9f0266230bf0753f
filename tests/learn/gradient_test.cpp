// Gradients against finite differences, the factored form against its definition, and bits against threads.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "annulus/base/random.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/learn/factored_gradient.h"
#include "annulus/learn/independent_gradient.h"
#include "annulus/learn/trainer.h"

namespace annulus {
namespace {

template <class T>
Matrix<T> random_matrix(std::size_t rows, std::size_t cols, std::uint32_t stream) {
  std::vector<float> numbers(rows * cols);
  fill_gaussian({11, RandomUse::kSynthetic, stream}, 0, numbers);
  Matrix<T> matrix(rows, cols);
  std::copy(numbers.begin(), numbers.end(), matrix.data());
  return matrix;
}

template <class T>
TrainingRows<T> random_rows(std::size_t classes, std::size_t shots, std::size_t dimension) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < classes * shots; ++i) labels.push_back(static_cast<std::int32_t>(i % classes));
  const auto features = random_matrix<float>(labels.size(), dimension, 5);
  return make_training_rows<T>(features.view(), labels, classes, NoiseShape::kEllipsoidal);
}

struct Case {
  HeadKind kind;
  double epsilon;
  NoiseSharing sharing;
  std::size_t group;
  bool antithetic;
  std::size_t virtual_count;
};

class EngineGradient : public ::testing::TestWithParam<Case> {};

// Mean loss of a step as a function of weights and bias, and its gradient.
template <class Engine>
void compare_with_differences(Engine& engine, const Case& parameters, const TrainingRows<double>& rows) {
  auto weights = random_matrix<double>(rows.classes, rows.dimension(), 9);
  std::vector<double> bias;
  if (parameters.kind == HeadKind::kLinear) {
    for (std::size_t c = 0; c < rows.classes; ++c) bias.push_back(0.1 * static_cast<double>(c));
  }
  StepGradient<double> gradient{Matrix<double>(rows.classes, rows.dimension()), std::vector<double>(bias.size())};
  StepGradient<double> unused{Matrix<double>(rows.classes, rows.dimension()), std::vector<double>(bias.size())};
  const StepBatch<double> batch{rows.features.view(), rows.labels, 3, rows.weights};
  const auto loss = [&](StepGradient<double>& out) {
    return engine.loss_gradient({parameters.kind, std::as_const(weights).view(), bias}, batch, out);
  };
  loss(gradient);
  constexpr double kStep = 1e-5;
  const auto difference = [&](double& parameter) {
    const double kept = parameter;
    parameter = kept + kStep;
    const double above = loss(unused).loss;
    parameter = kept - kStep;
    const double below = loss(unused).loss;
    parameter = kept;
    return (above - below) / (2 * kStep);
  };
  for (std::size_t c = 0; c < rows.classes; ++c) {
    for (std::size_t j = 0; j < rows.dimension(); ++j) {
      EXPECT_NEAR(gradient.weights(c, j), difference(weights(c, j)), 1e-8) << "weight " << c << ", " << j;
    }
  }
  for (std::size_t c = 0; c < bias.size(); ++c) {
    EXPECT_NEAR(gradient.bias[c], difference(bias[c]), 1e-8) << "bias " << c;
  }
}

void compare_engine(const Case& parameters, const TrainingRows<double>& rows) {
  NoiseOptions<double> options;
  options.epsilon = parameters.epsilon;
  options.virtual_count = parameters.virtual_count;
  options.scale = rows.noise_scale;
  options.stream = {4, RandomUse::kTrainingNoise, 1};
  options.group = parameters.group;
  options.antithetic = parameters.antithetic;
  options.label_smoothing = 0.1;
  if (parameters.sharing == NoiseSharing::kIndependent) {
    IndependentGradient<double> engine(options);
    compare_with_differences(engine, parameters, rows);
  } else {
    FactoredGradient<double> engine(options);
    compare_with_differences(engine, parameters, rows);
  }
}

TEST_P(EngineGradient, EqualsFiniteDifferences) { compare_engine(GetParam(), random_rows<double>(5, 3, 7)); }

TEST_P(EngineGradient, EqualsFiniteDifferencesWhereRowsHaveWeights) {
  auto rows = random_rows<double>(5, 3, 7);
  for (std::size_t i = 0; i < rows.rows(); ++i) rows.weights.push_back(0.3 + 0.1 * static_cast<double>(i));
  compare_engine(GetParam(), rows);
}

INSTANTIATE_TEST_SUITE_P(AllEngines, EngineGradient,
                         ::testing::Values(Case{HeadKind::kCosine, 0.0, NoiseSharing::kIndependent, 0, false, 1},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kIndependent, 0, false, 6},
                                           Case{HeadKind::kLinear, 0.0, NoiseSharing::kIndependent, 0, false, 1},
                                           Case{HeadKind::kLinear, 1.5, NoiseSharing::kIndependent, 0, false, 6},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kShared, 0, false, 6},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kShared, 0, true, 6},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kShared, 0, true, 7},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kGrouped, 4, false, 5},
                                           Case{HeadKind::kCosine, 1.5, NoiseSharing::kGrouped, 4, true, 5},
                                           Case{HeadKind::kLinear, 1.5, NoiseSharing::kShared, 0, true, 6},
                                           Case{HeadKind::kLinear, 1.5, NoiseSharing::kGrouped, 4, false, 6}));

// With the same noise rows for every original, independent virtual examples are what the factored form computes.
TEST(FactoredGradient, EqualsTheIndependentFormOnSharedNoise) {
  constexpr std::size_t kNoiseRows = 8;
  const auto rows = random_rows<float>(37, 2, 29);  // more originals than one part holds, awkward lengths
  const auto noise = random_matrix<float>(kNoiseRows, rows.dimension(), 21);
  NoiseOptions<float> options;
  options.epsilon = 2.0F;
  options.virtual_count = kNoiseRows;
  options.scale = rows.noise_scale;
  options.label_smoothing = 0.1F;
  options.numbers = [&](std::size_t, std::size_t first, MatrixView<float> out) {
    for (std::size_t i = 0; i < out.rows(); ++i) {
      const auto from = noise.row((first + i) % kNoiseRows);
      std::copy(from.begin(), from.end(), out.row(i).begin());
    }
  };
  const auto weights = random_matrix<float>(rows.classes, rows.dimension(), 9);
  const HeadView<float> head{HeadKind::kCosine, weights.view(), {}};
  const StepBatch<float> batch{rows.features.view(), rows.labels, 0};
  StepGradient<float> exact{Matrix<float>(rows.classes, rows.dimension()), {}};
  StepGradient<float> fast{Matrix<float>(rows.classes, rows.dimension()), {}};
  IndependentGradient<float> independent(options);
  FactoredGradient<float> factored(options);
  EXPECT_NEAR(independent.loss_gradient(head, batch, exact).loss, factored.loss_gradient(head, batch, fast).loss, 1e-5);
  for (std::size_t i = 0; i < rows.classes * rows.dimension(); ++i) {
    EXPECT_NEAR(exact.weights.data()[i], fast.weights.data()[i], 2e-6);
  }
  EXPECT_EQ(independent.hits(head, batch), factored.hits(head, batch));
}

// Mirrored rows: the noise logits of the second half are those of the first with opposite sign.
TEST(FactoredGradient, AntitheticRowsAreMirrored) {
  constexpr std::size_t kDrawn = 4;
  const auto rows = random_rows<float>(6, 2, 12);
  const auto noise = random_matrix<float>(kDrawn, rows.dimension(), 21);
  NoiseOptions<float> mirrored;
  mirrored.epsilon = 1.0F;
  mirrored.virtual_count = 2 * kDrawn;
  mirrored.scale = rows.noise_scale;
  mirrored.antithetic = true;
  mirrored.numbers = [&](std::size_t, std::size_t, MatrixView<float> out) {
    ASSERT_EQ(out.rows(), kDrawn);
    std::copy(noise.data(), noise.data() + kDrawn * noise.cols(), out.data());
  };
  NoiseOptions<float> spelled_out = mirrored;
  spelled_out.antithetic = false;
  spelled_out.numbers = [&](std::size_t, std::size_t, MatrixView<float> out) {
    for (std::size_t r = 0; r < 2 * kDrawn; ++r) {
      for (std::size_t j = 0; j < out.cols(); ++j) out(r, j) = (r < kDrawn ? 1.0F : -1.0F) * noise(r % kDrawn, j);
    }
  };
  const auto weights = random_matrix<float>(rows.classes, rows.dimension(), 9);
  const HeadView<float> head{HeadKind::kCosine, weights.view(), {}};
  const StepBatch<float> batch{rows.features.view(), rows.labels, 0};
  StepGradient<float> a{Matrix<float>(rows.classes, rows.dimension()), {}};
  StepGradient<float> b{Matrix<float>(rows.classes, rows.dimension()), {}};
  FactoredGradient<float> first(mirrored);
  FactoredGradient<float> second(spelled_out);
  EXPECT_NEAR(first.loss_gradient(head, batch, a).loss, second.loss_gradient(head, batch, b).loss, 1e-6);
  for (std::size_t i = 0; i < rows.classes * rows.dimension(); ++i) {
    EXPECT_NEAR(a.weights.data()[i], b.weights.data()[i], 1e-6);
  }
}

class SameBits : public ::testing::TestWithParam<NoiseSharing> {};

TEST_P(SameBits, ForOneTwoAndFourThreads) {
  const auto rows = random_rows<float>(60, 5, 33);
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

// 12,800 noise rows are wanted of a training: 10 steps of R 20 want the smallest groups that cost no more than the rest
// of a step (20 * 4 * 64 / (20 * 32 + 4 * 64) originals, rounded up), 640 steps are content with one group.
// In one step a class moves as it does when all learn; the others do not move.
TEST(Training, AnOrderOfSomeRowsIsTakenInEveryEpoch) {
  const auto rows = random_rows<float>(5, 3, 7);
  auto head = initial_head<float>(HeadKind::kCosine, 5, 7, 0, 0);
  TrainOptions options;
  options.batch = 4;
  options.epochs = 3;
  options.threads = 1;
  TrainHooks<float> hooks;
  hooks.order = [](std::size_t) { return std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}; };  // of 15 rows
  EXPECT_EQ(train(head, rows, options, {}, hooks).steps, 6U);
}

TEST(Training, SomeClassesLearnWhileTheOthersStay) {
  const TrainingRows<float> rows = random_rows<float>(6, 4, 9);
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

TEST(GroupedNoise, GroupsAreAsLargeAsTheTrainingAllows) {
  const auto rows = random_rows<float>(5, 4, 64);
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

INSTANTIATE_TEST_SUITE_P(EveryNoise, SameBits,
                         ::testing::Values(NoiseSharing::kIndependent, NoiseSharing::kShared, NoiseSharing::kGrouped));

}  // namespace
}  // namespace annulus
