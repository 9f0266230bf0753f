// Blocks of classes, put together, against the kernel that sees all classes.
#include "annulus/kernels/block_softmax.h"

#include <cmath>
#include <limits>

#include "tests/fixtures/every_target.h"
#include "tests/fixtures/softmax_problem.h"

namespace annulus {
namespace {

// Classes [first, first + count) of a problem, labels counted from there.
template <class T>
VirtualLogits<T> block_of(const SoftmaxProblem<T>& problem, std::size_t first, std::size_t count,
                          std::vector<std::int32_t>& shifted) {
  shifted = problem.labels;
  for (std::int32_t& label : shifted) label -= static_cast<std::int32_t>(first);
  const std::size_t classes = problem.example.cols();
  return {ConstMatrixView<T>(problem.example.data() + first, problem.example.rows(), count, classes),
          ConstMatrixView<T>(problem.noise.data() + first, problem.noise.rows(), count, classes), problem.scale.view(),
          shifted};
}

// Cuts the classes at `cut` and compares what the two blocks make together with the whole.
template <class T>
void compare_blocks(std::size_t examples, std::size_t noise_rows, std::size_t classes, std::size_t cut, double spread,
                    double tolerance) {
  const SoftmaxProblem<T> problem({examples, noise_rows, classes}, spread);
  const T gradient_scale = T{1} / static_cast<T>(examples * noise_rows);
  const T smoothing = static_cast<T>(0.1);
  Matrix<T> expected_example(examples, classes);
  Matrix<T> expected_noise(noise_rows, classes);
  std::vector<T> scratch(virtual_softmax_scratch(classes, examples, noise_rows));
  const LossSums expected =
      virtual_softmax_gradient(problem.logits(), smoothing, gradient_scale, true, expected_example.view(),
                               expected_noise.view(), std::span<T>(scratch));

  struct Block {
    std::size_t first;
    std::size_t count;
    Matrix<T> log_sum, largest, label;
    std::vector<std::int32_t> labels;
  };
  std::vector<Block> blocks;
  blocks.push_back({0, cut, {}, {}, {}, {}});
  blocks.push_back({cut, classes - cut, {}, {}, {}, {}});
  for (Block& block : blocks) {
    for (Matrix<T>* matrix : {&block.log_sum, &block.largest, &block.label}) *matrix = Matrix<T>(examples, noise_rows);
    block_statistics(block_of(problem, block.first, block.count, block.labels),
                     BlockStatistics<T>{block.log_sum.view(), block.largest.view(), block.label.view()});
  }
  Matrix<T> log_sum(examples, noise_rows);
  double loss = 0.0;
  std::size_t correct = 0;
  for (std::size_t i = 0; i < examples * noise_rows; ++i) {
    const T a = blocks[0].log_sum.data()[i];
    const T b = blocks[1].log_sum.data()[i];
    log_sum.data()[i] = std::max(a, b) + std::log1p(std::exp(std::min(a, b) - std::max(a, b)));
    loss += static_cast<double>(log_sum.data()[i]);
    const T label = std::max(blocks[0].label.data()[i], blocks[1].label.data()[i]);
    const bool inside = blocks[0].label.data()[i] == std::numeric_limits<T>::lowest();
    const bool also = blocks[1].label.data()[i] == std::numeric_limits<T>::lowest();
    EXPECT_NE(inside, also) << "one block holds the label";
    if (label >= std::max(blocks[0].largest.data()[i], blocks[1].largest.data()[i])) ++correct;
  }
  EXPECT_EQ(correct, expected.correct);
  Matrix<T> example_gradient(examples, classes);
  Matrix<T> noise_gradient(noise_rows, classes);
  for (Block& block : blocks) {
    const auto columns = [&](Matrix<T>& matrix) {
      return MatrixView<T>(matrix.data() + block.first, matrix.rows(), block.count, classes);
    };
    loss += block_gradient(block_of(problem, block.first, block.count, block.labels), std::as_const(log_sum).view(),
                           classes, smoothing, gradient_scale, columns(example_gradient), columns(noise_gradient));
  }
  const auto pairs = static_cast<double>(examples * noise_rows);
  EXPECT_NEAR(loss / pairs, expected.loss / pairs, tolerance * std::max(1.0, spread));
  for (std::size_t i = 0; i < examples * classes; ++i) {
    ASSERT_NEAR(static_cast<double>(example_gradient.data()[i]), static_cast<double>(expected_example.data()[i]),
                tolerance);
  }
  for (std::size_t i = 0; i < noise_rows * classes; ++i) {
    ASSERT_NEAR(static_cast<double>(noise_gradient.data()[i]), static_cast<double>(expected_noise.data()[i]),
                tolerance);
  }
}

TEST(BlockSoftmax, TwoBlocksTogetherEqualTheWhole) {
  for_every_target([] {
    for (const std::size_t classes : kAwkwardLengths) {
      if (classes < 2) continue;
      compare_blocks<float>(3, 5, classes, classes / 2, 2.0, 3e-6);
      compare_blocks<double>(2, 4, classes, 1, 2.0, 1e-13);
    }
    compare_blocks<float>(5, 3, 1300, 700, 2.0, 3e-6);
    compare_blocks<float>(33, 1, 40, 39, 2.0, 3e-6);
  });
}

TEST(BlockSoftmax, IsSafeAtHugeLogits) {
  for_every_target([] {
    compare_blocks<float>(4, 6, 50, 20, 1e3, 1e-3);  // the logits themselves are rounded to about 1e-4
    compare_blocks<double>(4, 6, 50, 20, 1e6, 1e-8);
  });
}

}  // namespace
}  // namespace annulus
