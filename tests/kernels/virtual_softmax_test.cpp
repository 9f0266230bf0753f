// The streaming kernel against the row softmax on spelled-out logits, at awkward sizes and huge logits.
#include "annulus/kernels/virtual_softmax.h"

#include <cmath>

#include "tests/fixtures/every_target.h"
#include "tests/fixtures/softmax_problem.h"

namespace annulus {
namespace {

template <class T>
void compare(const SoftmaxSizes& sizes, double spread, double tolerance) {
  const SoftmaxProblem<T> problem(sizes, spread);
  const T gradient_scale = T{1} / static_cast<T>(sizes.examples * sizes.noise_rows);
  Matrix<T> example_gradient(sizes.examples, sizes.classes);
  Matrix<T> noise_gradient(sizes.noise_rows, sizes.classes);
  std::vector<T> scratch(virtual_softmax_scratch(sizes.classes, sizes.examples, sizes.noise_rows));
  const auto run = [&](bool count_correct) {
    example_gradient = Matrix<T>(sizes.examples, sizes.classes);
    noise_gradient = Matrix<T>(sizes.noise_rows, sizes.classes);
    return virtual_softmax_gradient(problem.logits(), static_cast<T>(0.1), gradient_scale, count_correct,
                                    example_gradient.view(), noise_gradient.view(), std::span<T>(scratch));
  };
  const LossSums counted = run(true);
  const double loss = run(false).loss;
  EXPECT_EQ(loss, counted.loss);
  Matrix<double> expected_example(sizes.examples, sizes.classes);
  Matrix<double> expected_noise(sizes.noise_rows, sizes.classes);
  double expected_loss = 0.0;
  std::size_t expected_correct = 0;
  Matrix<double> row(1, sizes.classes);
  for (std::size_t i = 0; i < sizes.examples; ++i) {
    for (std::size_t r = 0; r < sizes.noise_rows; ++r) {
      const auto scale = static_cast<double>(problem.scale(i, r));
      for (std::size_t j = 0; j < sizes.classes; ++j) {
        row(0, j) = scale * static_cast<double>(problem.example(i, j) + problem.noise(r, j));
      }
      const LossSums sums = softmax_loss_gradient(row.view(), std::span<const std::int32_t>(&problem.labels[i], 1), 0.1,
                                                  static_cast<double>(gradient_scale));
      expected_loss += sums.loss;
      expected_correct += sums.correct;
      for (std::size_t j = 0; j < sizes.classes; ++j) {
        expected_example(i, j) += scale * row(0, j);
        expected_noise(r, j) += scale * row(0, j);
      }
    }
  }
  const auto pairs = static_cast<double>(sizes.examples * sizes.noise_rows);
  EXPECT_NEAR(loss / pairs, expected_loss / pairs, tolerance * std::max(1.0, spread));
  for (std::size_t i = 0; i < sizes.examples * sizes.classes; ++i) {
    ASSERT_NEAR(static_cast<double>(example_gradient.data()[i]), expected_example.data()[i], tolerance);
  }
  for (std::size_t i = 0; i < sizes.noise_rows * sizes.classes; ++i) {
    ASSERT_NEAR(static_cast<double>(noise_gradient.data()[i]), expected_noise.data()[i], tolerance);
  }
  EXPECT_EQ(virtual_correct(problem.logits()), expected_correct);
  EXPECT_EQ(counted.correct, expected_correct);
}

TEST(VirtualSoftmax, EqualsSpelledOutLogits) {
  for_every_target([] {
    for (const std::size_t classes : kAwkwardLengths) {
      compare<float>({3, 5, classes}, 2.0, 2e-6);
      compare<double>({2, 6, classes}, 2.0, 1e-13);
    }
    compare<float>({1, 1, 10}, 2.0, 2e-6);
    compare<float>({7, 4, 40}, 2.0, 2e-6);
    for (const std::size_t noise_rows : kAwkwardLengths) {
      compare<float>({3, noise_rows, 5}, 2.0, 2e-6);  // few classes
      compare<float>({3, noise_rows, 32}, 2.0, 2e-6);
    }
    compare<float>({5, 11, 1000}, 2.0, 2e-6);
  });
}

TEST(VirtualSoftmax, IsSafeAtHugeLogits) {
  for_every_target([] {
    for (const std::size_t classes : {5U, 16U, 33U}) {
      compare<float>({4, 6, classes}, 1e3, 5e-4);  // the logits themselves are rounded to about 1e-4
      compare<double>({4, 6, classes}, 1e6, 1e-8);
    }
  });
}

TEST(ExponentialSum, EqualsPlainLoops) {
  for_every_target([] {
    for (const std::size_t count : kAwkwardLengths) {
      std::vector<float> row(count);
      double expected = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        row[i] = -0.37F * static_cast<float>(i);
        expected += std::exp(static_cast<double>(row[i]));
      }
      EXPECT_NEAR(static_cast<double>(exponential_sum(row)), expected, 1e-6 * expected) << count;
    }
  });
}

}  // namespace
}  // namespace annulus
