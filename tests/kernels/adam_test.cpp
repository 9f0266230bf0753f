// Fused Adam rows against the textbook formulas in double.
#include "annulus/kernels/adam.h"

#include <cmath>

#include "annulus/base/random.h"
#include "tests/fixtures/every_target.h"

namespace annulus {
namespace {

std::vector<double> random_numbers(std::size_t count, std::uint32_t stream) {
  const RandomStream random{6, RandomUse::kSynthetic, stream};
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = random.uniform(i) - 0.5;
  return numbers;
}

// One parameter after `step` has seen `gradient`.
double textbook(double parameter, double gradient, double& first, double& second, double learning_rate,
                std::size_t step) {
  first = 0.9 * first + 0.1 * gradient;
  second = 0.999 * second + 0.001 * gradient * gradient;
  const double corrected = first / (1.0 - std::pow(0.9, static_cast<double>(step)));
  const double corrected_second = second / (1.0 - std::pow(0.999, static_cast<double>(step)));
  return parameter - learning_rate * corrected / (std::sqrt(corrected_second) + 1e-8);
}

template <class T>
void check_weight_norm(std::size_t count, double tolerance) {
  const auto start = random_numbers(count, 1);
  std::vector<T> direction(start.begin(), start.end());
  std::vector<double> expected(start);
  T gain = static_cast<T>(0.7);
  double expected_gain = 0.7;
  std::vector<T> first(count), second(count), weights(count);
  T first_gain = 0, second_gain = 0;
  std::vector<double> m(count), v(count);
  double m_gain = 0, v_gain = 0;
  for (std::size_t step = 1; step <= 3; ++step) {
    const auto gradient = random_numbers(count, 10 + static_cast<std::uint32_t>(step));
    double squared = 0, along = 0;
    for (std::size_t j = 0; j < count; ++j) squared += expected[j] * expected[j];
    const double length = std::sqrt(squared);
    for (std::size_t j = 0; j < count; ++j) along += gradient[j] * expected[j] / length;
    std::vector<double> direction_gradient(count);
    for (std::size_t j = 0; j < count; ++j) {
      direction_gradient[j] = expected_gain / length * (gradient[j] - along * expected[j] / length);
    }
    std::vector<T> given(gradient.begin(), gradient.end());
    const T gain_gradient =
        adam_weight_norm_row(AdamStep<T>::at(0.05, step), count, direction.data(), &gain, given.data(),
                             {first.data(), second.data(), &first_gain, &second_gain}, weights.data());
    EXPECT_NEAR(static_cast<double>(gain_gradient), along, tolerance);
    for (std::size_t j = 0; j < count; ++j) {
      EXPECT_NEAR(static_cast<double>(given[j]), direction_gradient[j], tolerance);
      // Adam divides by the gradient's size: what is nothing but rounding may go either way.
      if (std::abs(direction_gradient[j]) < 1e-6) direction_gradient[j] = static_cast<double>(given[j]);
      expected[j] = textbook(expected[j], direction_gradient[j], m[j], v[j], 0.05, step);
    }
    expected_gain = textbook(expected_gain, along, m_gain, v_gain, 0.05, step);
    double new_squared = 0;
    for (std::size_t j = 0; j < count; ++j) new_squared += expected[j] * expected[j];
    EXPECT_NEAR(static_cast<double>(gain), expected_gain, tolerance);
    for (std::size_t j = 0; j < count; ++j) {
      ASSERT_NEAR(static_cast<double>(direction[j]), expected[j], 10 * tolerance) << "of " << count;
      ASSERT_NEAR(static_cast<double>(weights[j]), expected_gain * expected[j] / std::sqrt(new_squared),
                  10 * tolerance);
    }
  }
}

TEST(Adam, WeightNormRowFollowsTheFormulas) {
  for_every_target([] {
    for (const std::size_t count : kAwkwardLengths) {
      if (count == 1) continue;  // a direction of one number has no gradient
      check_weight_norm<float>(count, 2e-5);
      check_weight_norm<double>(count, 1e-12);
    }
  });
}

TEST(Adam, PlainRowFollowsTheFormulas) {
  for_every_target([] {
    for (const std::size_t count : kAwkwardLengths) {
      const auto start = random_numbers(count, 1);
      const auto gradient = random_numbers(count, 2);
      std::vector<float> weights(start.begin(), start.end());
      const std::vector<float> given(gradient.begin(), gradient.end());
      std::vector<float> first(count), second(count);
      float bias = 0.25F, first_bias = 0, second_bias = 0;
      adam_plain_row(AdamStep<float>::at(0.1, 1), count, weights.data(), &bias, given.data(), -0.5F,
                     {first.data(), second.data(), &first_bias, &second_bias});
      for (std::size_t j = 0; j < count; ++j) {
        double m = 0, v = 0;
        ASSERT_NEAR(static_cast<double>(weights[j]), textbook(start[j], gradient[j], m, v, 0.1, 1), 1e-5);
      }
      double m = 0, v = 0;
      EXPECT_NEAR(static_cast<double>(bias), textbook(0.25, -0.5, m, v, 0.1, 1), 1e-6);
    }
  });
}

}  // namespace
}  // namespace annulus
