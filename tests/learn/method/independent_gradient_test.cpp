// The method to the letter: losses of given noise against a plain sum, and tiles against the whole.
#include "annulus/learn/method/independent_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

constexpr double kSmoothing = 0.1;

// Label-smoothed cross-entropy of one virtual example under the cosine head with the given effective weights.
double loss_of(const std::vector<double>& x, std::int32_t label, const Matrix<double>& weights) {
  double squares = 0.0;
  for (const double value : x) squares += value * value;
  std::vector<double> logits(weights.rows(), 0.0);
  double sum = 0.0;
  for (std::size_t c = 0; c < weights.rows(); ++c) {
    for (std::size_t j = 0; j < x.size(); ++j) logits[c] += weights(c, j) * x[j];
    logits[c] *= 10.0 / (std::sqrt(squares) + 1e-5);
    sum += std::exp(logits[c]);
  }
  double loss = 0.0;
  for (std::size_t c = 0; c < weights.rows(); ++c) {
    const double target = kSmoothing / static_cast<double>(weights.rows()) +
                          (static_cast<std::size_t>(label) == c ? 1.0 - kSmoothing : 0.0);
    loss -= target * (logits[c] - std::log(sum));
  }
  return loss;
}

// R 600 of 12 examples makes four tiles.
TEST(IndependentGradient, LossIsTheMeanOverVirtualExamplesOfEquationTwo) {
  constexpr std::size_t kVirtual = 600;
  const auto examples = random_examples<double>(4, 3, 5);
  const auto delta = random_matrix<double>(examples.rows() * kVirtual, 5, 31);
  const auto weights = random_matrix<double>(4, 5, 9);
  NoiseOptions<double> options;
  options.epsilon = 0.7;
  options.virtual_count = kVirtual;
  options.scale = examples.noise_scale;
  options.label_smoothing = kSmoothing;
  options.numbers = [&](std::size_t, std::size_t first, MatrixView<double> out) {
    for (std::size_t i = 0; i < out.rows(); ++i) {
      for (std::size_t j = 0; j < out.cols(); ++j) out(i, j) = delta(first + i, j);
    }
  };
  double expected = 0.0;
  for (std::size_t row = 0; row < delta.rows(); ++row) {
    std::vector<double> x(5);
    for (std::size_t j = 0; j < 5; ++j) {
      x[j] = examples.features(row / kVirtual, j) + 0.7 * examples.noise_scale[j] * delta(row, j);
    }
    expected += loss_of(x, examples.labels[row / kVirtual], weights);
  }
  expected /= static_cast<double>(delta.rows());
  IndependentGradient<double> engine(options);
  StepGradient<double> gradient{Matrix<double>(4, 5), {}};
  const StepBatch<double> batch{examples.features.view(), examples.labels, 0};
  EXPECT_NEAR(engine.loss_gradient({HeadKind::kCosine, weights.view(), {}}, batch, gradient).loss, expected, 1e-9);
}

TEST(IndependentGradient, AtRadiusZeroTrainingExamplesAreUsedOnceEach) {
  const auto examples = random_examples<double>(4, 3, 5);
  NoiseOptions<double> options;
  options.virtual_count = 50;
  options.scale = examples.noise_scale;
  EXPECT_EQ(IndependentGradient<double>(options).virtual_count(), 1U);
}

}  // namespace
}  // namespace annulus
