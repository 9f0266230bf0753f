// The nearest training rows: in order, equals by number, one passed over, whatever rows are asked about beside.
#include "annulus/learn/support_index.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace annulus {
namespace {

// Rows of the plane, three of them alike.
SupportRows plane_rows() {
  SupportRows support;
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

std::vector<std::size_t> numbers(const std::vector<NearRow>& near) {
  std::vector<std::size_t> rows;
  for (const NearRow& row : near) rows.push_back(row.row);
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

}  // namespace
}  // namespace annulus
