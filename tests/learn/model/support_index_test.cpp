// The nearest training examples: in order, equals by number, one passed over, whatever rows are asked about beside.
#include "annulus/learn/model/support_index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "annulus/learn/transform/class_spread.h"

namespace annulus {
namespace {

// Rows of the plane, three of them alike.
SupportSet plane_rows() {
  SupportSet support;
  const float cosines[] = {1.0F, 0.5F, 0.5F, 0.8F, -0.6F, 0.5F};
  const float sines[] = {0.0F, 0.75F, 0.75F, 0.6F, 0.8F, 0.75F};
  support.features = Matrix<float>(6, 2);
  for (std::size_t i = 0; i < 6; ++i) {
    support.features(i, 0) = cosines[i];
    support.features(i, 1) = sines[i];
    support.labels.push_back(0);
  }
  return support;
}

std::vector<std::size_t> numbers(const std::vector<NearExample>& near) {
  std::vector<std::size_t> rows;
  for (const NearExample& row : near) rows.push_back(row.row);
  return rows;
}

TEST(SupportIndex, NearestFirstAndOfEqualsTheLowerNumber) {
  const SupportIndex index({}, plane_rows());
  Matrix<float> row(1, 2);
  row(0, 0) = 2.0F;
  using Rows = std::vector<std::size_t>;
  EXPECT_EQ(numbers(index.nearest(std::as_const(row).view(), 4, 1)[0]), (Rows{0, 3, 1, 2}));
  EXPECT_EQ(numbers(index.nearest(std::as_const(row).view(), 100, 1)[0]), (Rows{0, 3, 1, 2, 5, 4}));
  EXPECT_EQ(numbers(index.nearest(std::as_const(row).view(), 1, 1)[0]), (Rows{0}));
  EXPECT_EQ(numbers(index.nearest(std::as_const(row).view(), 2, 1, {0})[0]), (Rows{3, 1}));
  EXPECT_TRUE(index.nearest(std::as_const(row).view(), 0, 1)[0].empty());
  EXPECT_EQ(index.nearest(std::as_const(row).view(), 1, 1)[0][0].cosine, 1.0F);
}

TEST(SupportIndex, LooksAtAllOfManyRows) {
  // Rows of a circle; every tenth is the same as the one before it.
  constexpr std::size_t kRows = 3000;
  SupportSet support;
  support.features = Matrix<float>(kRows, 2);
  for (std::size_t i = 0; i < kRows; ++i) {
    const double angle = static_cast<double>((i - (i % 10 == 9 ? 1U : 0U)) * 7919U % 6283U) / 1000.0;
    support.features(i, 0) = static_cast<float>(std::cos(angle));
    support.features(i, 1) = static_cast<float>(std::sin(angle));
    support.labels.push_back(0);
  }
  const SupportIndex index({}, support);
  Matrix<float> asked(20, 2);
  for (std::size_t i = 0; i < asked.rows(); ++i) {
    asked(i, 0) = static_cast<float>(std::cos(0.3 * static_cast<double>(i)));
    asked(i, 1) = static_cast<float>(std::sin(0.3 * static_cast<double>(i)));
  }
  const auto found = index.nearest(std::as_const(asked).view(), 5, 2);
  const auto all = index.nearest(std::as_const(asked).view(), kRows, 1);
  for (std::size_t i = 0; i < asked.rows(); ++i) {
    ASSERT_EQ(all[i].size(), kRows);
    for (std::size_t j = 1; j < kRows; ++j) {
      const bool equal = all[i][j - 1].cosine == all[i][j].cosine;
      EXPECT_TRUE(equal ? all[i][j - 1].row < all[i][j].row : all[i][j - 1].cosine > all[i][j].cosine);
    }
    EXPECT_EQ(numbers(found[i]), numbers({all[i].begin(), all[i].begin() + 5}));
  }
}

double square_along(const Matrix<float>& axes, double x, double y) {
  const std::vector<float> difference = {static_cast<float>(x), static_cast<float>(y)};
  double square = 0.0;
  for (const float number : along_axes(axes.view(), difference)) square += std::pow(static_cast<double>(number), 2.0);
  return square;
}

TEST(SupportIndex, NearnessToAClassLeavesTheRowItselfOutWhenTold) {
  SupportSet support = plane_rows();
  support.labels = {0, 1, 1, 0, 2, 1};
  const SupportIndex index({}, support);
  Matrix<float> rows(2, 2);
  rows(0, 0) = 1.0F;   // row 0 of the support, whose class has (0.8, 0.6) beside it
  rows(1, 0) = -0.6F;  // row 4, alone in its class
  rows(1, 1) = 0.8F;
  const double length = std::sqrt(0.5 * 0.5 + 0.75 * 0.75);
  using Classes = std::vector<std::int32_t>;
  const auto with = index.near_class(std::as_const(rows).view(), Classes{0, 2}, 1);
  EXPECT_NEAR(with[0].mean_closeness, 1.8 / std::sqrt(1.8 * 1.8 + 0.6 * 0.6), 1e-6);
  EXPECT_NEAR(with[1].mean_closeness, 1.0, 1e-6);
  for (const ClassNearness& near : with) {
    EXPECT_NEAR(near.cosine, 1.0, 1e-6);
    EXPECT_NEAR(near.row_closeness, 1.0, 1e-6);
  }
  // Two rows are two parts: each has axes of all rows but itself.
  const std::vector<std::size_t> left_out = {0, 4};
  const auto along_half = [&](std::size_t row, double x, double y) {
    const std::vector<std::size_t> alone = {row};
    return square_along(class_spread_axes(index.rows(), support.labels, 1, alone), x, y) / 2.0;
  };
  const auto without = index.near_class_without(left_out, {Classes{0, 2}}, 1).front();
  EXPECT_NEAR(without[0].cosine, 0.8, 1e-6);
  EXPECT_NEAR(without[0].row_closeness, 0.8 + along_half(0, 0.2, -0.6), 1e-5);
  EXPECT_NEAR(without[0].mean_closeness, 0.8 + along_half(0, 0.2, -0.6), 1e-5);
  EXPECT_GT(along_half(0, 0.2, -0.6), 0.01);
  EXPECT_EQ(without[1].cosine, -1.0F);
  EXPECT_EQ(without[1].row_closeness, -1.0F);
  EXPECT_EQ(without[1].mean_closeness, -1.0F);
  const auto others = index.near_class_without(left_out, {Classes{1, 1}}, 1).front();
  const double x = 0.5 / length;
  const double y = 0.75 / length;
  EXPECT_NEAR(others[0].cosine, x, 1e-5);
  EXPECT_NEAR(others[0].row_closeness, x + along_half(0, 1.0 - x, -y), 1e-5);
  EXPECT_NEAR(others[0].mean_closeness, others[0].row_closeness, 1e-5);  // three rows alike are their mean
  EXPECT_NEAR(others[1].mean_closeness, -0.6 * x + 0.8 * y + along_half(4, -0.6 - x, 0.8 - y), 1e-5);
}

TEST(SupportIndex, DifferencesAlongAxesCountLess) {
  SupportIndex index({}, plane_rows());
  Matrix<float> rows(1, 2);
  rows(0, 0) = 0.6F;
  rows(0, 1) = 0.8F;
  Matrix<float> axis(1, 2);
  axis(0, 1) = 0.5F;
  const std::vector<std::int32_t> named = {0};
  const auto mean = index.means().row(0);
  const double cosine = 0.6 * static_cast<double>(mean[0]) + 0.8 * static_cast<double>(mean[1]);
  const double along = 0.5 * (0.8 - static_cast<double>(mean[1]));
  index.set_axes(axis.clone(), 1);
  const auto near = index.near_class(std::as_const(rows).view(), named, 1);
  EXPECT_NEAR(near[0].mean_closeness, cosine + along * along / 2.0, 1e-6);
  // The nearest row is one of the three alike, with or without the axis.
  const double length = std::sqrt(0.5 * 0.5 + 0.75 * 0.75);
  const double nearest = (0.6 * 0.5 + 0.8 * 0.75) / length;
  EXPECT_NEAR(near[0].cosine, nearest, 1e-6);
  EXPECT_NEAR(near[0].row_closeness, nearest + std::pow(0.5 * (0.8 - 0.75 / length), 2.0) / 2.0, 1e-6);
  // A long axis makes a row that is far along it close: (1, 0), 0.8 away.
  axis(0, 1) = 3.0F;
  index.set_axes(axis.clone(), 1);
  const auto far = index.near_class(std::as_const(rows).view(), named, 1);
  EXPECT_NEAR(far[0].cosine, nearest, 1e-6);
  EXPECT_NEAR(far[0].row_closeness, 0.6 + 9.0 * 0.64 / 2.0, 1e-5);
}

TEST(SupportIndex, AClassWithoutRowsCountsAsOneOfZeros) {
  SupportSet support = plane_rows();
  support.labels = {0, 0, 0, 2, 2, 2};
  SupportIndex index({}, support);
  Matrix<float> rows(2, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    rows(i, 0) = 3.0F;
    rows(i, 1) = 4.0F;
  }
  Matrix<float> axis(1, 2);
  axis(0, 1) = 0.5F;
  index.set_axes(std::move(axis), 1);
  const std::vector<std::int32_t> named = {1, 7};
  for (const ClassNearness& near : index.near_class(std::as_const(rows).view(), named, 1)) {
    EXPECT_EQ(near.cosine, 0.0F);
    EXPECT_NEAR(near.row_closeness, 0.4 * 0.4 / 2.0, 1e-6);
    EXPECT_NEAR(near.mean_closeness, 0.4 * 0.4 / 2.0, 1e-6);
  }
}

TEST(SupportIndex, TakesAllRowsOrThoseOfTheClassesThatAreWanted) {
  std::vector<std::int32_t> labels(kMostIndexed, 0);
  labels[5] = 2;
  EXPECT_EQ(rows_to_index(labels, {false, false, true}).size(), kMostIndexed);
  labels.push_back(2);
  EXPECT_EQ(rows_to_index(labels, {false, false, true}), (std::vector<std::size_t>{5, kMostIndexed}));
}

}  // namespace
}  // namespace annulus
