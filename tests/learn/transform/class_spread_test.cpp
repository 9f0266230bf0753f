// Axes of the spread within classes: the shrunk covariance they stand for, and what leaving a row out does.
#include "annulus/learn/transform/class_spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/base/random.h"

namespace annulus {
namespace {

struct Rows {
  Matrix<float> features;
  std::vector<std::int32_t> labels;
};

// Rows of length 1 whose classes spread along the first directions more than along the others.
Rows spread_rows(std::size_t classes, std::size_t shots, std::size_t dimension) {
  const RandomStream stream{11, RandomUse::kSynthetic, 5};
  Rows rows{Matrix<float>(classes * shots, dimension), {}};
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < classes * shots; ++i) {
    const std::size_t c = i / shots;
    rows.labels.push_back(static_cast<std::int32_t>(c));
    double squares = 0.0;
    for (std::size_t j = 0; j < dimension; ++j) {
      const double centre = std::sin(static_cast<double>(3 * c + j));
      const double value = centre + (stream.uniform(index++) - 0.5) * 3.0 / static_cast<double>(j + 1);
      rows.features(i, j) = static_cast<float>(value);
      squares += value * value;
    }
    for (float& value : rows.features.row(i))
      value = static_cast<float>(static_cast<double>(value) / std::sqrt(squares));
  }
  return rows;
}

// The rows without one of them.
Rows without_row(const Rows& rows, std::size_t left_out) {
  Rows rest{Matrix<float>(rows.features.rows() - 1, rows.features.cols()), {}};
  for (std::size_t i = 0; i < rows.features.rows(); ++i) {
    if (i == left_out) continue;
    std::copy(rows.features.row(i).begin(), rows.features.row(i).end(), rest.features.row(rest.labels.size()).begin());
    rest.labels.push_back(rows.labels[i]);
  }
  return rest;
}

using Square = std::vector<std::vector<double>>;

// The scatter of the rows about the means of their classes, by the definition.
Square scatter_within(const Rows& rows) {
  const std::size_t dimension = rows.features.cols();
  Square scatter(dimension, std::vector<double>(dimension, 0.0));
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const auto count = static_cast<double>(std::count(rows.labels.begin(), rows.labels.end(), rows.labels[i]));
    std::vector<double> deviation(rows.features.row(i).begin(), rows.features.row(i).end());
    for (std::size_t k = 0; k < rows.labels.size(); ++k) {
      if (rows.labels[k] != rows.labels[i]) continue;
      for (std::size_t j = 0; j < dimension; ++j) deviation[j] -= static_cast<double>(rows.features(k, j)) / count;
    }
    for (std::size_t j = 0; j < dimension; ++j) {
      for (std::size_t k = 0; k < dimension; ++k) scatter[j][k] += deviation[j] * deviation[k];
    }
  }
  return scatter;
}

double mean_variance(const Square& scatter) {
  double sum = 0.0;
  for (std::size_t j = 0; j < scatter.size(); ++j) sum += scatter[j][j] / static_cast<double>(scatter.size());
  return sum;
}

// |u|^2 less the squared length of u under (scatter / unit + 1)^-1, by elimination.
double along_by_definition(Square system, double unit, const std::vector<float>& difference) {
  const std::size_t dimension = difference.size();
  for (std::size_t j = 0; j < dimension; ++j) {
    for (std::size_t k = 0; k < dimension; ++k) system[j][k] = system[j][k] / unit + (j == k ? 1.0 : 0.0);
    system[j].push_back(static_cast<double>(difference[j]));
  }
  for (std::size_t pivot = 0; pivot < dimension; ++pivot) {
    for (std::size_t j = 0; j < dimension; ++j) {
      if (j == pivot) continue;
      const double factor = system[j][pivot] / system[pivot][pivot];
      for (std::size_t k = pivot; k <= dimension; ++k) system[j][k] -= factor * system[pivot][k];
    }
  }
  double along = 0.0;
  for (std::size_t j = 0; j < dimension; ++j) {
    const auto u = static_cast<double>(difference[j]);
    along += u * (u - system[j][dimension] / system[j][j]);
  }
  return along;
}

double square_along(const Matrix<float>& axes, const std::vector<float>& difference) {
  double square = 0.0;
  for (const float number : along_axes(axes.view(), difference)) square += std::pow(static_cast<double>(number), 2.0);
  return square;
}

std::vector<float> some_difference(std::size_t dimension) {
  std::vector<float> difference;
  for (std::size_t j = 0; j < dimension; ++j)
    difference.push_back(0.3F * static_cast<float>(std::cos(1.7 * static_cast<double>(j))));
  return difference;
}

TEST(ClassSpread, AxesStandForTheShrunkCovarianceWithinClasses) {
  for (const std::size_t dimension : {std::size_t{3}, std::size_t{12}, std::size_t{16}}) {
    const Rows rows = spread_rows(6, 5, dimension);
    const Matrix<float> axes = class_spread_axes(rows.features.view(), rows.labels, 1);
    ASSERT_EQ(axes.rows(), dimension);
    const Square scatter = scatter_within(rows);
    const auto difference = some_difference(dimension);
    const double expected = along_by_definition(scatter, mean_variance(scatter), difference);
    EXPECT_NEAR(square_along(axes, difference), expected, 1e-5 * (1.0 + expected));
  }
}

TEST(ClassSpread, LeftOutRowsAreIgnored) {
  const Rows rows = spread_rows(5, 4, 30);
  const std::vector<std::size_t> left_out = {3};
  const Rows rest = without_row(rows, 3);
  const Matrix<float> axes = class_spread_axes(rows.features.view(), rows.labels, 1, left_out);
  const Matrix<float> expected = class_spread_axes(rest.features.view(), rest.labels, 1);
  ASSERT_EQ(axes.rows(), expected.rows());
  for (std::size_t i = 0; i < axes.rows(); ++i) {
    EXPECT_TRUE(std::equal(axes.row(i).begin(), axes.row(i).end(), expected.row(i).begin()));
  }
  const Matrix<float> all = class_spread_axes(rows.features.view(), rows.labels, 1);
  EXPECT_NE(square_along(all, some_difference(30)), square_along(axes, some_difference(30)));
}

TEST(ClassSpread, OneShotHasNoAxes) {
  const Rows rows = spread_rows(7, 1, 12);
  const Matrix<float> axes = class_spread_axes(rows.features.view(), rows.labels, 1);
  EXPECT_EQ(axes.rows(), 0U);
  EXPECT_EQ(square_along(axes, some_difference(12)), 0.0);
}

TEST(ClassSpread, EqualRowsHaveNoAxes) {
  Rows rows = spread_rows(3, 4, 8);
  for (std::size_t i = 0; i < rows.features.rows(); ++i) {
    std::fill(rows.features.row(i).begin(), rows.features.row(i).end(), 0.0F);
    rows.features(i, 0) = 1.0F;
  }
  EXPECT_EQ(class_spread_axes(rows.features.view(), rows.labels, 1).rows(), 0U);
}

TEST(ClassSpread, ManyRowsGiveTheSameAxesWithAnyThreads) {
  const Rows rows = spread_rows(200, 5, 24);
  const Matrix<float> one = class_spread_axes(rows.features.view(), rows.labels, 1);
  const Matrix<float> three = class_spread_axes(rows.features.view(), rows.labels, 3);
  ASSERT_EQ(one.rows(), kSpreadAxes);
  for (std::size_t i = 0; i < kSpreadAxes; ++i) {
    EXPECT_TRUE(std::equal(one.row(i).begin(), one.row(i).end(), three.row(i).begin()));
  }
  // A sample of the rows and the largest directions are near enough to all of both.
  const double spread_within = mean_variance(scatter_within(rows));
  EXPECT_NEAR(square_along(one, some_difference(24)),
              along_by_definition(scatter_within(rows), spread_within, some_difference(24)), 0.06);
}

}  // namespace
}  // namespace annulus
