// Gradients of both engines against finite differences, and how a gradient is told in chunks.
#include "annulus/learn/method/gradient.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "annulus/learn/method/factored_gradient.h"
#include "annulus/learn/method/independent_gradient.h"
#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

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
void compare_with_differences(Engine& engine, const Case& parameters, const TrainingExamples<double>& rows) {
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

void compare_engine(const Case& parameters, const TrainingExamples<double>& rows) {
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

TEST_P(EngineGradient, EqualsFiniteDifferences) { compare_engine(GetParam(), random_examples<double>(5, 3, 7)); }

TEST_P(EngineGradient, EqualsFiniteDifferencesWhereRowsHaveWeights) {
  auto rows = random_examples<double>(5, 3, 7);
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

using Chunk = std::pair<std::size_t, std::size_t>;

TEST(StepGradient, ChunksCoverAllClassesOnce) {
  StepGradient<float> gradient{Matrix<float>(10, 2), {}};
  const auto chunks = [&] {
    std::vector<Chunk> all;
    gradient.for_chunks(10, [&](std::size_t first, std::size_t count) { all.emplace_back(first, count); });
    return all;
  };
  EXPECT_EQ(chunks(), (std::vector<Chunk>{{0, 10}}));
  gradient.chunk = 4;
  EXPECT_EQ(chunks(), (std::vector<Chunk>{{0, 4}, {4, 4}, {8, 2}}));
}

TEST(StepGradient, AProductInChunksIsTheWholeProduct) {
  const auto logits = random_matrix<double>(7, 10, 1);
  const auto rows = random_matrix<double>(7, 3, 2);
  StepGradient<double> whole{Matrix<double>(10, 3), {}};
  StepGradient<double> chunked{Matrix<double>(10, 3), {}};
  std::vector<Chunk> told;
  chunked.chunk = 4;
  chunked.ready = [&](std::size_t first, std::size_t count) { told.emplace_back(first, count); };
  multiply_gradient(logits.view(), rows.view(), 0.0, true, 1, whole);
  multiply_gradient(logits.view(), rows.view(), 0.0, true, 1, chunked);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(whole.weights.data()[i], chunked.weights.data()[i], 1e-12);
  EXPECT_EQ(told, (std::vector<Chunk>{{0, 4}, {4, 4}, {8, 2}}));
  told.clear();
  multiply_gradient(logits.view(), rows.view(), 0.0, false, 1, chunked);
  EXPECT_TRUE(told.empty()) << "more is added to it";
  clear_gradient(chunked);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(chunked.weights.data()[i], 0.0);
  EXPECT_EQ(told.size(), 3U);
}

}  // namespace
}  // namespace annulus
