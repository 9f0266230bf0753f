// Matrices own zeroed, aligned memory; views look at rows that may lie apart.
#include "annulus/base/matrix.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace annulus {
namespace {

TEST(Matrix, StartsWithZerosAtAnAlignedAddress) {
  const Matrix<float> matrix(3, 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(matrix.data()) % 64, 0U);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const float value : matrix.row(i)) EXPECT_EQ(value, 0.0F);
  }
}

TEST(Matrix, AMoveLeavesNothingBehindAndACloneIsACopy) {
  Matrix<double> first(2, 2);
  first(1, 0) = 7.0;
  Matrix<double> copy = first.clone();
  copy(1, 0) = 8.0;
  EXPECT_EQ(first(1, 0), 7.0);
  const Matrix<double> second = std::move(first);
  EXPECT_EQ(second(1, 0), 7.0);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): what is asserted
  EXPECT_EQ(first.rows(), 0U);
}

TEST(MatrixView, RowsLieAStrideApart) {
  float values[] = {1, 2, 0, 3, 4, 0, 5, 6, 0};
  const MatrixView<float> view(values, 3, 2, 3);
  EXPECT_EQ(view(2, 1), 6.0F);
  EXPECT_EQ(view.rows_at(1, 2)(0, 0), 3.0F);
  view.row(0)[1] = 9.0F;
  const ConstMatrixView<float> constant = view;
  EXPECT_EQ(constant(0, 1), 9.0F);
}

TEST(Reuse, KeepsTheMemoryThatSufficesAndReplacesTheRest) {
  Matrix<float> buffer;
  float* const large = reuse(buffer, 10, 10).data();
  EXPECT_EQ(reuse(buffer, 4, 25).data(), large);
  EXPECT_EQ(reuse(buffer, 2, 2).cols(), 2U);
  EXPECT_EQ(buffer.rows() * buffer.cols(), 100U);
  reuse(buffer, 11, 10);
  EXPECT_EQ(buffer.rows() * buffer.cols(), 110U);
}

TEST(Reuse, RowsApartDoNotStartAPowerOfTwoFromEachOther) {
  Matrix<float> buffer;
  EXPECT_EQ(reuse_apart(buffer, 3, 512).stride(), 528U);
  EXPECT_EQ(reuse_apart(buffer, 3, 500).stride(), 500U);
}

}  // namespace
}  // namespace annulus
