// Metrics against the covariance they stand for, and leading directions against an exact decomposition.
#include "annulus/learn/transform/metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

// Rows whose dimensions have the deviations 1, 1/2, 1/3, ..., turned so that no axis is a dimension.
Matrix<float> falling_rows(std::size_t count, std::size_t dimension) {
  const RandomStream stream{3, RandomUse::kSynthetic, 1};
  Matrix<float> rows(count, dimension);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < dimension; ++j) {
      rows(i, j) = static_cast<float>((stream.uniform(i * dimension + j) - 0.5) / static_cast<double>(j + 1));
    }
    for (std::size_t j = 0; j + 1 < dimension; ++j) {
      const float a = rows(i, j);
      const float b = rows(i, j + 1);
      rows(i, j) = 0.8F * a + 0.6F * b;
      rows(i, j + 1) = 0.8F * b - 0.6F * a;
    }
  }
  return rows;
}

using Square = std::vector<std::vector<double>>;

Square scatter_of(const Matrix<float>& rows, double freedom) {
  Square scatter(rows.cols(), std::vector<double>(rows.cols(), 0.0));
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      for (std::size_t k = 0; k < rows.cols(); ++k) {
        scatter[j][k] += static_cast<double>(rows(i, j)) * static_cast<double>(rows(i, k)) / freedom;
      }
    }
  }
  return scatter;
}

double trace_of(const Square& square) {
  double sum = 0.0;
  for (std::size_t j = 0; j < square.size(); ++j) sum += square[j][j];
  return sum;
}

Square product_of(const Square& left, const Square& right) {
  Square product(left.size(), std::vector<double>(right.size(), 0.0));
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t k = 0; k < right.size(); ++k) {
      for (std::size_t j = 0; j < right.size(); ++j) product[i][j] += left[i][k] * right[k][j];
    }
  }
  return product;
}

std::vector<double> image_of(const Square& square, const std::vector<double>& vector) {
  std::vector<double> image(square.size(), 0.0);
  for (std::size_t i = 0; i < square.size(); ++i) {
    for (std::size_t j = 0; j < vector.size(); ++j) image[i] += square[i][j] * vector[j];
  }
  return image;
}

double dot(const std::vector<double>& left, const std::vector<double>& right) {
  double sum = 0.0;
  for (std::size_t j = 0; j < left.size(); ++j) sum += left[j] * right[j];
  return sum;
}

// The largest variance of all directions at right angles to the axes, by many steps of the power method.
double largest_besides(const Square& scatter, const std::vector<std::vector<double>>& axes) {
  std::vector<double> direction(scatter.size());
  for (std::size_t j = 0; j < direction.size(); ++j) direction[j] = 1.0 + std::sin(static_cast<double>(7 * j));
  double variance = 0.0;
  for (int step = 0; step < 500; ++step) {
    for (const std::vector<double>& axis : axes) {
      const double along = dot(axis, direction);
      for (std::size_t j = 0; j < direction.size(); ++j) direction[j] -= along * axis[j];
    }
    const double length = std::sqrt(dot(direction, direction));
    if (length < 1e-12) return 0.0;
    for (double& value : direction) value /= length;
    const std::vector<double> image = image_of(scatter, direction);
    variance = dot(direction, image);
    direction = image;
  }
  return variance;
}

// A as a matrix: the images of the unit vectors.
Matrix<float> matrix_of(const Metric& metric, std::size_t dimension) {
  Matrix<float> images(dimension, dimension);
  for (std::size_t j = 0; j < dimension; ++j) images(j, j) = 1.0F;
  apply_metric(metric, images.view(), 2);
  return images;
}

TEST(LeadingDirections, AreTheEigenvectorsOfTheLargestVariances) {
  // More rows than dimensions, fewer, and a rank that covers everything.
  for (const auto& [count, dimension, rank] : {std::array<std::size_t, 3>{200, 60, 8}, {50, 90, 8}, {30, 12, 40}}) {
    const Matrix<float> rows = falling_rows(count, dimension);
    const Square scatter = scatter_of(rows, 7.0);
    const Spectrum spectrum = leading_directions(rows.view(), 7.0, rank, 2);
    ASSERT_EQ(spectrum.variances.size(), std::min(rank, std::min(count, dimension)));
    EXPECT_NEAR(spectrum.total, trace_of(scatter), 1e-4 * trace_of(scatter));
    EXPECT_TRUE(std::is_sorted(spectrum.variances.rbegin(), spectrum.variances.rend()));
    std::vector<std::vector<double>> axes;
    for (std::size_t k = 0; k < spectrum.variances.size(); ++k) {
      const auto row = spectrum.axes.row(k);
      axes.emplace_back(row.begin(), row.end());
      for (std::size_t other = 0; other < k; ++other) EXPECT_NEAR(dot(axes[k], axes[other]), 0.0, 2e-3);
      EXPECT_NEAR(dot(axes[k], axes[k]), 1.0, 2e-3);
      // S v = variance v
      const std::vector<double> image = image_of(scatter, axes[k]);
      double difference = 0.0;
      for (std::size_t j = 0; j < dimension; ++j) {
        difference += std::pow(image[j] - spectrum.variances[k] * axes[k][j], 2.0);
      }
      EXPECT_LT(std::sqrt(difference), 0.05 * spectrum.variances[k] + 1e-5) << "axis " << k;
    }
    if (axes.size() < dimension) {
      EXPECT_LT(largest_besides(scatter, axes), 1.05 * spectrum.variances.back());
    }
  }
}

TEST(LeadingDirections, DoNotDependOnTheThreads) {
  const Matrix<float> rows = falling_rows(300, 70);
  const Spectrum one = leading_directions(rows.view(), 299.0, 16, 1);
  const Spectrum four = leading_directions(rows.view(), 299.0, 16, 4);
  ASSERT_EQ(one.variances, four.variances);
  EXPECT_EQ(std::memcmp(one.axes.data(), four.axes.data(), 16 * 70 * sizeof(float)), 0);
}

TEST(Metric, IsTheInverseRootOfTheShrunkCovarianceUpToAFactor) {
  constexpr std::size_t kDimension = 10;
  constexpr double kShrinkage = 0.3;
  const Matrix<float> rows = falling_rows(80, kDimension);
  const Metric metric = metric_of(leading_directions(rows.view(), 79.0, kDimension, 1), kShrinkage);
  Square covariance = scatter_of(rows, 79.0);
  const double mean = trace_of(covariance) / static_cast<double>(kDimension);
  for (std::size_t j = 0; j < kDimension; ++j) {
    for (std::size_t k = 0; k < kDimension; ++k) {
      covariance[j][k] = (1.0 - kShrinkage) * covariance[j][k] + (j == k ? kShrinkage * mean : 0.0);
    }
  }
  const Matrix<float> map = matrix_of(metric, kDimension);
  Square a(kDimension, std::vector<double>(kDimension));
  for (std::size_t j = 0; j < kDimension; ++j) {
    for (std::size_t k = 0; k < kDimension; ++k) {
      a[j][k] = static_cast<double>(map(j, k));
      EXPECT_NEAR(map(j, k), map(k, j), 1e-4F);  // symmetric
    }
  }
  const Square white = product_of(product_of(a, covariance), a);
  for (std::size_t j = 0; j < kDimension; ++j) {
    for (std::size_t k = 0; k < kDimension; ++k) {
      EXPECT_NEAR(white[j][k] / white[0][0], j == k ? 1.0 : 0.0, 0.01) << j << ' ' << k;
    }
  }
}

TEST(Metric, ItsInverseUndoesIt) {
  const Matrix<float> rows = falling_rows(80, 20);
  const Metric metric = metric_of(leading_directions(rows.view(), 79.0, 6, 1), 0.1);
  Matrix<float> there_and_back = rows.clone();
  apply_metric(metric, there_and_back.view(), 1);
  apply_metric(inverse_of(metric), there_and_back.view(), 1);
  for (std::size_t i = 0; i < 80 * 20; ++i) EXPECT_NEAR(there_and_back.data()[i], rows.data()[i], 1e-4F);
}

TEST(Metric, OfASphereOrOfNothingChangesNothing) {
  const Matrix<float> rows = falling_rows(40, 12);
  EXPECT_TRUE(metric_of(leading_directions(rows.view(), 39.0, 12, 1), 1.0).empty());
  const Matrix<float> zeros(40, 12);
  EXPECT_TRUE(metric_of(leading_directions(zeros.view(), 39.0, 12, 1), 0.5).empty());
  EXPECT_TRUE(metric_of(leading_directions(Matrix<float>(0, 12).view(), 1.0, 12, 1), 0.5).empty());
  Matrix<float> same = rows.clone();
  apply_metric({}, same.view(), 1);
  EXPECT_EQ(std::memcmp(same.data(), rows.data(), 40 * 12 * sizeof(float)), 0);
}

}  // namespace
}  // namespace annulus
