// Class maps and confused pairs, on examples with a known result.
#include "annulus/eval/audit/class_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/eval/audit/label_audit.h"

namespace annulus {
namespace {

// Rows of length 1 that point mostly along the first axis, shifted along the second and third.
Matrix<float> rows_at(const std::vector<std::pair<float, float>>& shifts) {
  Matrix<float> rows(shifts.size(), 5);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const auto [a, b] = shifts[i];
    const float length = std::sqrt(1.0F + a * a + b * b);
    rows(i, 0) = 1.0F / length;
    rows(i, 1) = a / length;
    rows(i, 2) = b / length;
  }
  return rows;
}

TEST(ClassMap, FindsThePlaneInWhichClassesDiffer) {
  // A cross: far apart along one axis, nearer along the other.
  const Matrix<float> rows = rows_at({{-0.2F, 0.0F}, {0.2F, 0.0F}, {0.0F, -0.1F}, {0.0F, 0.1F}});
  const std::vector<std::int32_t> labels = {0, 1, 2, 3};
  const ClassMap map = class_map(rows.view(), labels, 5);
  ASSERT_EQ(map.points.size(), 5U);
  EXPECT_GT(map.shown, 0.99);
  EXPECT_NEAR(map.points[0].x, -map.points[1].x, 1e-6);
  EXPECT_NEAR(std::abs(map.points[1].x), 1.0, 1e-6);
  EXPECT_NEAR(map.points[0].y, map.points[1].y, 0.05);
  EXPECT_NEAR(std::abs(map.points[2].y - map.points[3].y), 1.0, 0.1);
  EXPECT_EQ(map.points[4].x, 0.0);
  // Each class has one row, which lies where its mean does.
  ASSERT_EQ(map.rows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(map.rows[i].x, map.points[i].x, 1e-6);
    EXPECT_NEAR(map.rows[i].y, map.points[i].y, 1e-6);
  }
  const ClassMap again = class_map(rows.view(), labels, 5);
  EXPECT_EQ(again.points[2].y, map.points[2].y);
}

TEST(ClassMap, AcceptsClassesThatDoNotDiffer) {
  const Matrix<float> rows = rows_at({{0.1F, 0.0F}, {0.1F, 0.0F}});
  const ClassMap map = class_map(rows.view(), std::vector<std::int32_t>{0, 1}, 2);
  EXPECT_TRUE(std::isfinite(map.points[0].x) && std::isfinite(map.shown));
  EXPECT_EQ(class_map(ConstMatrixView<float>(), {}, 0).points.size(), 0U);
}

TEST(ConfusedPairs, CountsExamplesThatLookLikeAnotherClass) {
  // Two of class 0 sit among class 1.
  const Matrix<float> rows = rows_at({{-0.5F, 0.0F},
                                      {-0.5F, 0.1F},
                                      {-0.5F, -0.1F},
                                      {-0.4F, 0.0F},
                                      {0.5F, 0.0F},
                                      {0.5F, 0.1F},
                                      {0.5F, 0.05F},
                                      {0.5F, -0.1F},
                                      {0.55F, 0.0F}});
  const std::vector<std::int32_t> labels = {0, 0, 0, 0, 0, 0, 1, 1, 1};
  const LabelScores scores = score_labels(rows.view(), labels, 2, 1);
  const auto pairs = confused_pairs(labels, scores, 10, 1);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].label, 0);
  EXPECT_EQ(pairs[0].taken_for, 1);
  EXPECT_EQ(pairs[0].count, 2U);
  EXPECT_EQ(pairs[0].rows, std::vector<std::uint32_t>{4});
  EXPECT_TRUE(confused_pairs(labels, scores, 0, 1).empty());
}

}  // namespace
}  // namespace annulus
