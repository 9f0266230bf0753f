// First heads: random ones, and prototypes at a length that training does not forget.
#include "annulus/learn/method/first_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

TEST(FirstHead, IsRandomUnlessToldOtherwise) {
  const auto examples = random_examples<double>(5, 3, 16);
  TrainOptions options;
  options.seed = 7;
  const Head<double> found = first_head(examples, HeadKind::kCosine, options);
  const Head<double> random = initial_head<double>(HeadKind::kCosine, 5, 16, 7, start_stream(options));
  EXPECT_EQ(found.gain, random.gain);
  for (std::size_t j = 0; j < 16; ++j) EXPECT_EQ(found.direction(4, j), random.direction(4, j));
}

TEST(FirstHead, PointsAtTheWeightedSumOfAClassForBothKinds) {
  auto examples = random_examples<double>(4, 2, 16);
  for (std::size_t i = 0; i < examples.rows(); ++i) examples.weights.push_back(i % 2 == 0 ? 0.5 : 1.5);
  TrainOptions options;
  options.from_prototypes = true;
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    const Head<double> head = first_head(examples, kind, options);
    EXPECT_EQ(head.gain.size(), kind == HeadKind::kCosine ? 4U : 0U);
    EXPECT_EQ(head.bias.size(), kind == HeadKind::kCosine ? 0U : 4U);
    Matrix<double> weights(4, 16);
    effective_weights(head, weights.view());
    for (std::size_t c = 0; c < 4; ++c) {
      std::vector<double> sum(16, 0.0);
      for (std::size_t i = 0; i < examples.rows(); ++i) {
        if (static_cast<std::size_t>(examples.labels[i]) != c) continue;
        for (std::size_t j = 0; j < 16; ++j) sum[j] += examples.weights[i] * examples.features(i, j);
      }
      double product = 0.0;
      double squares = 0.0;
      double length = 0.0;
      for (std::size_t j = 0; j < 16; ++j) {
        product += sum[j] * weights(c, j);
        squares += sum[j] * sum[j];
        length += weights(c, j) * weights(c, j);
      }
      EXPECT_NEAR(product, std::sqrt(squares * length), 1e-9 * std::sqrt(squares * length));
    }
  }
}

TEST(FirstHead, OneStepOfAdamLeavesThePrototypeRecognisable) {
  const auto examples = random_examples<double>(4, 3, 64);
  TrainOptions options;
  options.from_prototypes = true;
  options.epochs = 1;
  options.learning_rate = 0.05;
  Head<double> head = first_head(examples, HeadKind::kCosine, options);
  const Head<double> before = head.clone();
  train(head, examples, options);
  for (std::size_t c = 0; c < 4; ++c) {
    double product = 0.0;
    double squares = 0.0;
    double length = 0.0;
    for (std::size_t j = 0; j < 64; ++j) {
      product += head.direction(c, j) * before.direction(c, j);
      squares += head.direction(c, j) * head.direction(c, j);
      length += before.direction(c, j) * before.direction(c, j);
    }
    EXPECT_GT(product / std::sqrt(squares * length), 0.97);
    EXPECT_LT(product / std::sqrt(squares * length), 1.0);
  }
}

TEST(FirstHead, AClassWhoseExamplesCancelOutStartsAtRandom) {
  Matrix<double> rows(4, 3);
  rows(0, 0) = 1.0;
  rows(1, 0) = -1.0;
  rows(2, 1) = 1.0;
  rows(3, 1) = 1.0;
  const auto examples = make_training_examples<double>(std::move(rows), {0, 0, 1, 1}, 2, NoiseShape::kSpherical);
  TrainOptions options;
  options.from_prototypes = true;
  Head<double> head = first_head(examples, HeadKind::kCosine, options);
  EXPECT_GT(std::abs(head.direction(0, 0)) + std::abs(head.direction(0, 1)) + std::abs(head.direction(0, 2)), 0.1);
  options.epochs = 2;
  train(head, examples, options);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isfinite(head.direction(0, j)));
}

}  // namespace
}  // namespace annulus
