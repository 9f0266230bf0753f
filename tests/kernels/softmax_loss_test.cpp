// Row softmax, loss and gradient against plain loops in double, at awkward lengths and huge logits.
#include "annulus/kernels/softmax_loss.h"

#include <cmath>

#include "annulus/base/random.h"
#include "tests/fixtures/every_target.h"

namespace annulus {
namespace {

struct Expected {
  double loss = 0.0;
  std::vector<double> gradient;
};

template <class T>
Expected reference(std::span<const T> logits, std::size_t label, double smoothing, double scale) {
  double largest = -1e300;
  for (const T logit : logits) largest = std::max(largest, static_cast<double>(logit));
  double total = 0.0;
  double mean = 0.0;
  for (const T logit : logits) {
    total += std::exp(static_cast<double>(logit) - largest);
    mean += static_cast<double>(logit) / static_cast<double>(logits.size());
  }
  Expected expected;
  expected.loss = largest + std::log(total) - (1 - smoothing) * static_cast<double>(logits[label]) - smoothing * mean;
  for (std::size_t j = 0; j < logits.size(); ++j) {
    const double target = (j == label ? 1 - smoothing : 0.0) + smoothing / static_cast<double>(logits.size());
    expected.gradient.push_back(scale * (std::exp(static_cast<double>(logits[j]) - largest) / total - target));
  }
  return expected;
}

template <class T>
void check_lengths(double spread, double tolerance) {
  const RandomStream random{2, RandomUse::kSynthetic, 0};
  for (const std::size_t classes : kAwkwardLengths) {
    for (const std::size_t offset : {0U, 1U, 3U}) {  // alignments
      Matrix<T> memory(2, classes + offset);
      const MatrixView<T> logits(memory.data() + offset, 2, classes, classes);
      for (std::size_t i = 0; i < 2 * classes; ++i) {
        logits.data()[i] = static_cast<T>((random.uniform(i) - 0.5) * spread);
      }
      const std::vector<std::int32_t> labels = {0, static_cast<std::int32_t>(classes - 1)};
      const auto first = reference(std::span<const T>(logits.row(0)), 0, 0.1, 0.25);
      const auto second = reference(std::span<const T>(logits.row(1)), classes - 1, 0.1, 0.25);
      std::size_t correct = 0;
      for (std::size_t i = 0; i < 2; ++i) {
        correct += argmax(std::span<const T>(logits.row(i))) == static_cast<std::size_t>(labels[i]) ? 1U : 0U;
      }
      const LossSums sums = softmax_loss_gradient(logits, labels, static_cast<T>(0.1), static_cast<T>(0.25));
      EXPECT_EQ(sums.correct, correct);
      EXPECT_NEAR(sums.loss, first.loss + second.loss, tolerance * std::max(1.0, spread)) << classes << " classes";
      for (std::size_t j = 0; j < classes; ++j) {
        ASSERT_NEAR(static_cast<double>(logits(0, j)), first.gradient[j], tolerance);
        ASSERT_NEAR(static_cast<double>(logits(1, j)), second.gradient[j], tolerance);
      }
    }
  }
}

TEST(SoftmaxLoss, EqualsPlainLoops) {
  for_every_target([] {
    check_lengths<float>(20.0, 2e-6);
    check_lengths<double>(20.0, 1e-13);
  });
}

TEST(SoftmaxLoss, IsSafeAtHugeLogits) {
  for_every_target([] {
    check_lengths<float>(1e6, 2e-6);
    check_lengths<double>(1e12, 1e-12);
  });
}

TEST(SoftmaxRows, SumsToOne) {
  for_every_target([] {
    for (const std::size_t classes : kAwkwardLengths) {
      Matrix<float> logits(3, classes);
      for (std::size_t i = 0; i < 3 * classes; ++i) logits.data()[i] = static_cast<float>(i % 7) - 3.0F;
      softmax_rows(logits.view());
      for (std::size_t i = 0; i < 3; ++i) {
        double sum = 0.0;
        for (const float p : logits.row(i)) sum += static_cast<double>(p);
        EXPECT_NEAR(sum, 1.0, 1e-5);
      }
    }
  });
}

}  // namespace
}  // namespace annulus
