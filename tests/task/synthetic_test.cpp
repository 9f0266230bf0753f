// The generated set: its shape, its repeatability, and the statistics it promises.
#include "annulus/task/synthetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/base/error.h"

namespace annulus {
namespace {

Matrix<float> all_rows(const FeatureSet& set) {
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  return rows;
}

TEST(Synthetic, HasTheRequestedShape) {
  SyntheticOptions options;
  options.classes = 7;
  options.train_rows = 3;
  options.test_rows = 2;
  options.dimension = 5;
  const FeatureSet set = make_synthetic(options);
  EXPECT_EQ(set.rows(), 35U);
  EXPECT_EQ(set.dimension(), 5U);
  ASSERT_EQ(set.classes(), 7U);
  EXPECT_EQ(set.class_names()[6], "class-006");
  EXPECT_EQ(set.labels()[34], 6);
  EXPECT_EQ(set.is_train()[2], 1);
  EXPECT_EQ(set.is_train()[3], 0);
}

TEST(Synthetic, IsAPureFunctionOfItsSeed) {
  SyntheticOptions options;
  options.classes = 5;
  options.dimension = 16;
  const Matrix<float> first = all_rows(make_synthetic(options));
  const Matrix<float> again = all_rows(make_synthetic(options));
  options.seed = 1;
  const Matrix<float> other = all_rows(make_synthetic(options));
  std::size_t different = 0;
  for (std::size_t i = 0; i < first.rows(); ++i) {
    for (std::size_t j = 0; j < first.cols(); ++j) {
      ASSERT_EQ(first(i, j), again(i, j));
      if (first(i, j) != other(i, j)) ++different;
    }
  }
  EXPECT_EQ(different, first.rows() * first.cols());
}

TEST(Synthetic, WithinClassSpreadFollowsNoiseAndDecay) {
  SyntheticOptions options;
  options.classes = 100;
  options.train_rows = 50;
  options.test_rows = 0;
  options.dimension = 8;
  options.noise = 2.0;
  options.noise_decay = 1.0;
  const Matrix<float> rows = all_rows(make_synthetic(options));
  double sum = 0.0;
  for (std::size_t j = 0; j < options.dimension; ++j) sum += 1.0 / (1.0 + static_cast<double>(j));
  for (std::size_t j = 0; j < options.dimension; ++j) {
    double squares = 0.0;
    for (std::size_t c = 0; c < options.classes; ++c) {
      double mean = 0.0;
      for (std::size_t i = 0; i < 50; ++i) mean += static_cast<double>(rows(c * 50 + i, j)) / 50.0;
      for (std::size_t i = 0; i < 50; ++i) squares += std::pow(static_cast<double>(rows(c * 50 + i, j)) - mean, 2.0);
    }
    const double variance = squares / (100.0 * 49.0);
    const double expected = 4.0 / (1.0 + static_cast<double>(j)) / sum;
    EXPECT_NEAR(variance / expected, 1.0, 0.1) << "dimension " << j;  // five standard errors
  }
}

TEST(Synthetic, RejectsInvalidSizes) {
  SyntheticOptions options;
  options.classes = 1;
  EXPECT_THROW(make_synthetic(options), Error);
  options.classes = 1'000'000'000;
  EXPECT_THROW(make_synthetic(options), Error);
}

}  // namespace
}  // namespace annulus
