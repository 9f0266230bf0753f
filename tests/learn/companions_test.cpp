// Companions: closed forms against their definitions, and the sum of heads.
#include "annulus/learn/companions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/base/matrix.h"
#include "annulus/learn/recipe.h"

namespace annulus {
namespace {

// Rows of length 1 that differ from class to class and, by a wave of their own, from each other.
TrainingRows<float> wavy_rows(std::size_t classes, std::size_t shots, std::size_t dimension) {
  Matrix<float> features(classes * shots, dimension);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < features.rows(); ++i) {
    labels.push_back(static_cast<std::int32_t>(i / shots));
    for (std::size_t j = 0; j < dimension; ++j) {
      const double phase = static_cast<double>((i / shots + 1) * (j + 2));
      const double own = static_cast<double>((i + 3) * (j + 1));
      features(i, j) = static_cast<float>(1.5 + std::sin(0.7 * phase) + 0.4 * std::cos(1.3 * own));
    }
  }
  return make_training_rows<float>(std::move(features), std::move(labels), classes, NoiseShape::kEllipsoidal);
}

// What is left of (X^T X + penalty) w - X^T y for centred rows X, the penalty being a share of their mean squared
// length: 0 at the solution.
double worst_residual(const TrainingRows<float>& rows, const Matrix<float>& weights, double penalty) {
  const std::size_t d = rows.dimension();
  std::vector<double> mean(d, 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < d; ++j) mean[j] += rows.features(i, j) / static_cast<double>(rows.rows());
  }
  double lengths = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < d; ++j) lengths += std::pow(rows.features(i, j) - mean[j], 2.0);
  }
  penalty *= lengths / static_cast<double>(rows.rows());
  double worst = 0.0;
  for (std::size_t c = 0; c < rows.classes; ++c) {
    std::vector<double> left(d, 0.0);
    for (std::size_t j = 0; j < d; ++j) left[j] = penalty * weights(c, j);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      double score = 0.0;
      for (std::size_t j = 0; j < d; ++j) score += weights(c, j) * (rows.features(i, j) - mean[j]);
      const double target = static_cast<std::size_t>(rows.labels[i]) == c ? 1.0 : 0.0;
      for (std::size_t j = 0; j < d; ++j) left[j] += (score - target) * (rows.features(i, j) - mean[j]);
    }
    for (const double value : left) worst = std::max(worst, std::fabs(value));
  }
  return worst;
}

TEST(Companions, RidgeSolvesItsEquationsByRowsAndByDimensions) {
  const TrainingRows<float> few = wavy_rows(4, 2, 24);
  EXPECT_LT(worst_residual(few, ridge_weights(few, 0.1, 1), 0.1), 1e-5);
  const TrainingRows<float> many = wavy_rows(4, 16, 12);
  EXPECT_LT(worst_residual(many, ridge_weights(many, 0.1, 1), 0.1), 1e-4);
  EXPECT_GT(worst_residual(many, ridge_weights(many, 0.2, 1), 0.1), 1e-3) << "another penalty is another solution";
  // Larger than a tile of the factor.
  const TrainingRows<float> wide = wavy_rows(30, 5, 160);
  EXPECT_LT(worst_residual(wide, ridge_weights(wide, 0.1, 2), 0.1), 1e-4);
  const TrainingRows<float> tall = wavy_rows(30, 8, 160);
  EXPECT_LT(worst_residual(tall, ridge_weights(tall, 0.1, 2), 0.1), 1e-4);
}

TEST(Companions, ClassMeansAreOfLengthOneAndPointAtTheirClass) {
  const TrainingRows<float> rows = wavy_rows(5, 3, 16);
  const Matrix<float> plain = class_mean_weights(rows, {});
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

TEST(Companions, WeighNothingLeaveTheTrainedHeadAsItWas) {
  const TrainingRows<float> rows = wavy_rows(6, 4, 16);
  const Head<float> trained = initial_head<float>(HeadKind::kCosine, 6, 16, 3, 0);
  const Head<float> head = with_companions(trained, rows, {1e-12, 0.1, 1e-9}, 1);
  ASSERT_EQ(head.kind, HeadKind::kLinear);
  Matrix<float> expected(rows.rows(), 6);
  Matrix<float> found(rows.rows(), 6);
  compute_logits(trained, rows.features.view(), expected.view());
  compute_logits(head, rows.features.view(), found.view());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(found(i, c), expected(i, c), 2e-4F);
  }
}

// A head of noise names rows at random; ridge regression beside it names them all.
TEST(Companions, OutvoteAHeadThatKnowsNothing) {
  const TrainingRows<float> rows = wavy_rows(8, 4, 24);
  const Head<float> noise = initial_head<float>(HeadKind::kCosine, 8, 24, 5, 0);
  TrainOptions originals;
  originals.threads = 1;
  EXPECT_LT(training_accuracy(noise, rows, originals), 0.5);
  EXPECT_EQ(training_accuracy(with_companions(noise, rows, {9.0, 0.01, 0.0}, 1), rows, originals), 1.0);
}

TEST(Companions, OfRowsThatAreAllTheSameAddNothing) {
  Matrix<float> features(6, 4);
  for (std::size_t i = 0; i < 6; ++i) features(i, 1) = 2.0F;
  const TrainingRows<float> rows =
      make_training_rows<float>(std::move(features), {0, 0, 1, 1, 2, 2}, 3, NoiseShape::kEllipsoidal);
  const Head<float> trained = initial_head<float>(HeadKind::kCosine, 3, 4, 3, 0);
  const Head<float> head = with_companions(trained, rows, {0.7}, 1);
  for (std::size_t c = 0; c < 3; ++c) {
    for (const float value : head.direction.row(c)) EXPECT_TRUE(std::isfinite(value));
    EXPECT_TRUE(std::isfinite(head.bias[c]));
  }
}

TEST(Companions, DoNotDependOnTheNumberOfThreads) {
  const TrainingRows<float> rows = wavy_rows(70, 2, 24);
  const Head<float> trained = initial_head<float>(HeadKind::kCosine, 70, 24, 3, 0);
  const Head<float> one = with_companions(trained, rows, {0.7}, 1);
  const Head<float> three = with_companions(trained, rows, {0.7}, 3);
  EXPECT_EQ(one.bias, three.bias);
  for (std::size_t c = 0; c < 70; ++c) {
    EXPECT_TRUE(std::equal(one.direction.row(c).begin(), one.direction.row(c).end(), three.direction.row(c).begin()));
  }
}

}  // namespace
}  // namespace annulus
