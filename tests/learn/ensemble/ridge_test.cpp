// Ridge regression against its normal equations.
#include "annulus/learn/ensemble/ridge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/fixtures/wavy_rows.h"

namespace annulus {
namespace {

// What is left of (X^T X + penalty) w - X^T y for centred rows X, the penalty being a fraction of their mean squared
// length: 0 at the solution.
double worst_residual(const TrainingExamples<float>& rows, const Matrix<float>& weights, double penalty) {
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

TEST(Ridge, SolvesItsEquationsWithFewAndManyExamples) {
  const TrainingExamples<float> few = wavy_rows(4, 2, 24);
  EXPECT_LT(worst_residual(few, ridge_weights(few, {.relative = 0.1}, 1), 0.1), 1e-5);
  const TrainingExamples<float> many = wavy_rows(4, 16, 12);
  EXPECT_LT(worst_residual(many, ridge_weights(many, {.relative = 0.1}, 1), 0.1), 1e-4);
  EXPECT_GT(worst_residual(many, ridge_weights(many, {.relative = 0.2}, 1), 0.1), 1e-3)
      << "another penalty is another solution";
  // Larger than a tile of the factor.
  const TrainingExamples<float> wide = wavy_rows(30, 5, 160);
  EXPECT_LT(worst_residual(wide, ridge_weights(wide, {.relative = 0.1}, 2), 0.1), 1e-4);
  const TrainingExamples<float> tall = wavy_rows(30, 8, 160);
  EXPECT_LT(worst_residual(tall, ridge_weights(tall, {.relative = 0.1}, 2), 0.1), 1e-4);
}

TEST(Ridge, PenaltiesAddUp) {
  const TrainingExamples<float> rows = wavy_rows(3, 4, 10);
  double lengths = 0.0;  // of the centred rows
  for (std::size_t j = 0; j < rows.dimension(); ++j) {
    double mean = 0.0;
    for (std::size_t i = 0; i < rows.rows(); ++i) mean += rows.features(i, j) / static_cast<double>(rows.rows());
    for (std::size_t i = 0; i < rows.rows(); ++i) lengths += std::pow(rows.features(i, j) - mean, 2.0);
  }
  const double scale = lengths / static_cast<double>(rows.rows());
  const Matrix<float> both = ridge_weights(rows, {.relative = 0.2, .absolute = 0.3 * scale}, 1);
  EXPECT_LT(worst_residual(rows, both, 0.5), 1e-5);
}

}  // namespace
}  // namespace annulus
