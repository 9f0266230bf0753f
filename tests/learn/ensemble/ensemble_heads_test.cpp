// EnsembleHeads: closed forms against their definitions, and the sum of heads.
#include "annulus/learn/ensemble/ensemble_heads.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/base/matrix.h"
#include "annulus/learn/method/training_accuracy.h"
#include "tests/fixtures/wavy_rows.h"

namespace annulus {
namespace {

TEST(EnsembleHeads, PrototypesAreOfLengthOneAndPointAtTheirClass) {
  const TrainingExamples<float> rows = wavy_rows(5, 3, 16);
  const Matrix<float> plain = prototype_weights(rows, {});
  for (std::size_t c = 0; c < 5; ++c) {
    double length = 0.0;
    double along = 0.0;
    for (std::size_t j = 0; j < 16; ++j) {
      const double sum = rows.features(3 * c, j) + rows.features(3 * c + 1, j) + rows.features(3 * c + 2, j);
      length += static_cast<double>(plain(c, j)) * static_cast<double>(plain(c, j));
      along += static_cast<double>(plain(c, j)) * sum;
    }
    EXPECT_NEAR(length, 1.0, 1e-5);
    double sum_length = 0.0;
    for (std::size_t j = 0; j < 16; ++j) {
      const double sum = rows.features(3 * c, j) + rows.features(3 * c + 1, j) + rows.features(3 * c + 2, j);
      sum_length += sum * sum;
    }
    EXPECT_NEAR(along, std::sqrt(sum_length), 1e-4);
  }
}

// The logits of the sum are those of the trained head alone, times its part of the sum.
void expect_same_logits(const Head<float>& sum, const Head<float>& trained, const TrainingExamples<float>& rows,
                        float part = 1.0F) {
  ASSERT_EQ(sum.kind, HeadKind::kLinear);
  Matrix<float> expected(rows.rows(), trained.classes());
  Matrix<float> found(rows.rows(), trained.classes());
  compute_logits(trained, rows.features.view(), expected.view());
  compute_logits(sum, rows.features.view(), found.view());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t c = 0; c < trained.classes(); ++c) EXPECT_NEAR(found(i, c), part * expected(i, c), 2e-4F);
  }
}

TEST(EnsembleHeads, WithWeightZeroLeaveTheTrainedHeadUnchanged) {
  const TrainingExamples<float> rows = wavy_rows(6, 4, 16);
  const Head<float> trained = initial_head<float>(HeadKind::kCosine, 6, 16, 3, 0);
  expect_same_logits(with_ensemble_heads(trained, rows, {1e-12, 0.1, 1e-9}, 1), trained, rows);
}

// A head of noise names rows at random; ridge regression beside it names them all.
TEST(EnsembleHeads, OutvoteAnUntrainedHead) {
  const TrainingExamples<float> rows = wavy_rows(8, 4, 24);
  const Head<float> noise = initial_head<float>(HeadKind::kCosine, 8, 24, 5, 0);
  TrainOptions examples;
  examples.threads = 1;
  EXPECT_LT(training_accuracy(noise, rows, examples), 0.5);
  EXPECT_EQ(training_accuracy(with_ensemble_heads(noise, rows, {9.0, 0.01, 0.0}, 1), rows, examples), 1.0);
}

// Of other rows too: equal examples tell no class from another, so the closed-form heads have no say.
TEST(EnsembleHeads, OfRowsThatAreAllTheSameAddNothing) {
  Matrix<float> features(6, 16);
  for (std::size_t i = 0; i < 6; ++i) features(i, 1) = 2.0F;
  const TrainingExamples<float> same =
      make_training_examples<float>(std::move(features), {0, 0, 1, 1, 2, 2}, 3, NoiseShape::kEllipsoidal);
  const TrainingExamples<float> others = wavy_rows(3, 4, 16);
  const Head<float> trained = initial_head<float>(HeadKind::kCosine, 3, 16, 3, 0);
  const EnsembleHeads ensemble{0.7, 0.1, 0.0, 1.0};
  const float part = 1.0F / (1.0F + 0.7F + 1.0F);
  expect_same_logits(with_ensemble_heads(trained, same, ensemble, 1), trained, others, part);
  // Where examples differ they do have one.
  Matrix<float> before(others.rows(), 3);
  Matrix<float> after(others.rows(), 3);
  compute_logits(trained, others.features.view(), before.view());
  compute_logits(with_ensemble_heads(trained, others, ensemble, 1), others.features.view(), after.view());
  EXPECT_GT(std::abs(after(0, 0) - part * before(0, 0)), 0.01F);
}

TEST(EnsembleHeads, DoNotDependOnTheNumberOfThreads) {
  const TrainingExamples<float> rows = wavy_rows(70, 2, 24);
  const Head<float> trained = initial_head<float>(HeadKind::kCosine, 70, 24, 3, 0);
  const Head<float> one = with_ensemble_heads(trained, rows, {0.7}, 1);
  const Head<float> three = with_ensemble_heads(trained, rows, {0.7}, 3);
  EXPECT_EQ(one.bias, three.bias);
  for (std::size_t c = 0; c < 70; ++c) {
    EXPECT_TRUE(std::equal(one.direction.row(c).begin(), one.direction.row(c).end(), three.direction.row(c).begin()));
  }
}

}  // namespace
}  // namespace annulus
