// Rows of length 1, and the cosines between rows.
#include "annulus/learn/baselines/unit_rows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace annulus {
namespace {

TEST(UnitRows, HaveLengthOneAndZerosStayZeros) {
  Matrix<float> rows(2, 2);
  rows(0, 0) = 3.0F;
  rows(0, 1) = 4.0F;
  const Matrix<double> unit = unit_rows<double>(rows.view());
  EXPECT_DOUBLE_EQ(unit(0, 0), 0.6);
  EXPECT_DOUBLE_EQ(unit(0, 1), 0.8);
  EXPECT_EQ(unit(1, 0), 0.0);
}

TEST(UnitRows, CosinesDoNotDependOnLengthsOrThreads) {
  Matrix<float> rows(3, 2);
  Matrix<float> examples(2, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    rows(i, 0) = static_cast<float>(i + 1) * 2.0F;
    rows(i, 1) = static_cast<float>(i);
  }
  examples(0, 0) = 1.0F;
  examples(1, 1) = 1.0F;
  const Matrix<float> one = cosines(rows.view(), examples.view(), 1);
  const Matrix<float> two = cosines(rows.view(), examples.view(), 2);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(one(i, 0), rows(i, 0) / std::hypot(rows(i, 0), rows(i, 1)), 1e-6);
    for (std::size_t j = 0; j < 2; ++j) EXPECT_EQ(one(i, j), two(i, j));
  }
}

}  // namespace
}  // namespace annulus
