// The streaming kernel against the row softmax on spelled-out logits, at awkward sizes and huge logits.
#include "annulus/kernels/virtual_softmax.h"

#include <cmath>

#include "tests/kernels/every_target.h"
#include "tests/kernels/softmax_problem.h"

namespace annulus {
namespace {

template <class T>
void compare(const SoftmaxSizes& sizes, double spread, double tolerance) {
  const SoftmaxProblem<T> problem(sizes, spread);
  const T gradient_scale = T{1} / static_cast<T>(sizes.originals * sizes.noise_rows);
  Matrix<T> original_gradient(sizes.originals, sizes.classes);
  Matrix<T> noise_gradient(sizes.noise_rows, sizes.classes);
  std::vector<T> scratch(virtual_softmax_scratch(sizes.classes, sizes.originals, sizes.noise_rows));
  const auto run = [&](bool count_hits) {
    original_gradient = Matrix<T>(sizes.originals, sizes.classes);
    noise_gradient = Matrix<T>(sizes.noise_rows, sizes.classes);
    return virtual_softmax_gradient(problem.logits(), static_cast<T>(0.1), gradient_scale, count_hits,
                                    original_gradient.view(), noise_gradient.view(), std::span<T>(scratch));
  };
  const LossSums counted = run(true);
  const double loss = run(false).loss;
  EXPECT_EQ(loss, counted.loss);
  Matrix<double> expected_original(sizes.originals, sizes.classes);
  Matrix<double> expected_noise(sizes.noise_rows, sizes.classes);
  double expected_loss = 0.0;
  std::size_t expected_hits = 0;
  Matrix<double> row(1, sizes.classes);
  for (std::size_t i = 0; i < sizes.originals; ++i) {
    for (std::size_t r = 0; r < sizes.noise_rows; ++r) {
      const auto scale = static_cast<double>(problem.scale(i, r));
      for (std::size_t j = 0; j < sizes.classes; ++j) {
        row(0, j) = scale * static_cast<double>(problem.original(i, j) + problem.noise(r, j));
      }
      const LossSums sums = softmax_loss_gradient(row.view(), std::span<const std::int32_t>(&problem.labels[i], 1), 0.1,
                                                  static_cast<double>(gradient_scale));
      expected_loss += sums.loss;
      expected_hits += sums.hits;
      for (std::size_t j = 0; j < sizes.classes; ++j) {
        expected_original(i, j) += scale * row(0, j);
        expected_noise(r, j) += scale * row(0, j);
      }
    }
  }
  const auto pairs = static_cast<double>(sizes.originals * sizes.noise_rows);
  EXPECT_NEAR(loss / pairs, expected_loss / pairs, tolerance * std::max(1.0, spread));
  for (std::size_t i = 0; i < sizes.originals * sizes.classes; ++i) {
    ASSERT_NEAR(static_cast<double>(original_gradient.data()[i]), expected_original.data()[i], tolerance);
  }
  for (std::size_t i = 0; i < sizes.noise_rows * sizes.classes; ++i) {
    ASSERT_NEAR(static_cast<double>(noise_gradient.data()[i]), expected_noise.data()[i], tolerance);
  }
  EXPECT_EQ(virtual_hits(problem.logits()), expected_hits);
  EXPECT_EQ(counted.hits, expected_hits);
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
