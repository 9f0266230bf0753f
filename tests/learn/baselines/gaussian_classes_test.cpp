// Moments of classes and heads of a common covariance against plain formulas.
#include "annulus/learn/baselines/gaussian_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "annulus/kernels/gaussian.h"

namespace annulus {
namespace {

Matrix<float> random_rows(std::size_t rows, std::size_t cols, std::uint32_t stream) {
  Matrix<float> result(rows, cols);
  fill_gaussian({5, RandomUse::kSynthetic, stream}, 0, {result.data(), rows * cols});
  return result;
}

// (diag(diagonal) + factor^T factor) row.
std::vector<double> covariance_times(std::span<const double> diagonal, const Matrix<float>& factor,
                                     std::span<const float> row) {
  std::vector<double> result;
  for (std::size_t j = 0; j < row.size(); ++j) result.push_back(diagonal[j] * static_cast<double>(row[j]));
  for (std::size_t i = 0; i < factor.rows(); ++i) {
    double along = 0.0;
    for (std::size_t j = 0; j < row.size(); ++j)
      along += static_cast<double>(factor(i, j)) * static_cast<double>(row[j]);
    for (std::size_t j = 0; j < row.size(); ++j) result[j] += along * static_cast<double>(factor(i, j));
  }
  return result;
}

TEST(ClassMoments, MeansCountsAndDeviationsOfUnevenClasses) {
  Matrix<float> rows(3, 2);
  rows(0, 0) = 1.0F;
  rows(1, 0) = 3.0F;
  rows(1, 1) = 2.0F;
  rows(2, 1) = 5.0F;
  const ClassMoments moments = class_moments(std::move(rows), std::vector<std::int32_t>{1, 1, 0}, 2);
  EXPECT_EQ(moments.counts, (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(moments.means(0, 1), 5.0);
  EXPECT_EQ(moments.means(1, 0), 2.0);
  EXPECT_EQ(moments.deviations(0, 0), -1.0F);
  EXPECT_EQ(moments.deviations(1, 1), 1.0F);
  EXPECT_EQ(moments.deviations(2, 1), 0.0F);
  EXPECT_EQ(moments.scatter_trace(), 4.0);
  EXPECT_TRUE(moments.varies());
  EXPECT_FALSE(class_moments(random_rows(3, 4, 1), std::vector<std::int32_t>{0, 1, 2}, 3).varies());
}

// With few rows in the factor and with many, which are solved by different systems.
TEST(CommonCovarianceHead, SolvesTheSystemOfTheFormula) {
  constexpr std::size_t kClasses = 4;
  constexpr std::size_t kDimension = 9;
  const Matrix<float> random = random_rows(kClasses, kDimension, 2);
  Matrix<double> means(kClasses, kDimension);
  std::copy(random.data(), random.data() + kClasses * kDimension, means.data());
  const std::vector<double> offsets{0.5, -1.0, 0.0, 2.0};
  std::vector<double> diagonal;
  for (std::size_t j = 0; j < kDimension; ++j) diagonal.push_back(0.2 + 0.3 * static_cast<double>(j));
  for (const std::size_t rows : {std::size_t{3}, std::size_t{40}}) {
    const Matrix<float> factor = random_rows(rows, kDimension, 3);
    const Head<float> head = common_covariance_head(means.view(), diagonal, factor.clone(), offsets, 1);
    for (std::size_t c = 0; c < kClasses; ++c) {
      const std::vector<double> product = covariance_times(diagonal, factor, head.direction.row(c));
      double squares = 0.0;
      for (std::size_t j = 0; j < kDimension; ++j) {
        EXPECT_NEAR(product[j], means(c, j), 1e-5) << rows << " " << c << " " << j;
        squares += means(c, j) * static_cast<double>(head.direction(c, j));
      }
      EXPECT_NEAR(head.bias[c], offsets[c] - squares / 2.0, 1e-5);
    }
    const Head<float> again = common_covariance_head(means.view(), diagonal, factor.clone(), offsets, 3);
    EXPECT_EQ(0, std::memcmp(again.direction.data(), head.direction.data(), kClasses * kDimension * sizeof(float)));
  }
}

TEST(UnitCovarianceHead, IsTheNearestPrototype) {
  Matrix<double> means(2, 2);
  means(0, 0) = 1.0;
  means(1, 1) = 3.0;
  const Head<float> head = unit_covariance_head(means.view(), std::vector<double>{0.0, 1.0});
  EXPECT_EQ(head.direction(1, 1), 3.0F);
  EXPECT_EQ(head.bias, (std::vector<float>{-0.5F, -3.5F}));
}

}  // namespace
}  // namespace annulus
