// Rows of a pool: their scale and their order.
#include "annulus/eval/pool/pool_rows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace annulus {
namespace {

TEST(PoolRows, RowsWithoutNegativeValuesGetSquareRoots) {
  Matrix<float> rows(1, 2);
  rows(0, 0) = 9.0F;
  rows(0, 1) = 16.0F;
  make_comparable(rows.view());
  EXPECT_NEAR(rows(0, 0), 0.6F, 1e-6F);
  EXPECT_NEAR(rows(0, 1), 0.8F, 1e-6F);
  Matrix<float> with_signs(1, 2);
  with_signs(0, 0) = -3.0F;
  with_signs(0, 1) = 4.0F;
  make_comparable(with_signs.view());
  EXPECT_NEAR(with_signs(0, 0), -0.6F, 1e-6F);
  EXPECT_NEAR(with_signs(0, 1), 0.8F, 1e-6F);
}

TEST(PoolRows, AreOrderedByValuesThenByPaths) {
  Matrix<float> rows(3, 2);
  rows(0, 0) = 2.0F;
  rows(1, 0) = 1.0F;
  rows(2, 0) = 1.0F;
  EXPECT_EQ(content_order(rows.view(), {}), (std::vector<std::size_t>{1, 2, 0}));
  const std::vector<std::string> paths{"a", "c", "b"};
  EXPECT_EQ(content_order(rows.view(), paths), (std::vector<std::size_t>{2, 1, 0}));
}

}  // namespace
}  // namespace annulus
