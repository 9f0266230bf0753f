// The factored form against its definition.
#include "annulus/learn/method/factored_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "annulus/learn/method/independent_gradient.h"
#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

// With the same noise rows for every training example, independent virtual examples are what the factored form
// computes.
TEST(FactoredGradient, EqualsTheIndependentFormOnSharedNoise) {
  constexpr std::size_t kNoiseRows = 8;
  const auto rows = random_examples<float>(37, 2, 29);  // more training examples than one part holds, awkward lengths
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
  EXPECT_EQ(independent.correct(head, batch), factored.correct(head, batch));
}

// Mirrored rows: the noise logits of the second half are those of the first with opposite sign.
TEST(FactoredGradient, AntitheticRowsAreMirrored) {
  constexpr std::size_t kDrawn = 4;
  const auto rows = random_examples<float>(6, 2, 12);
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

}  // namespace
}  // namespace annulus
