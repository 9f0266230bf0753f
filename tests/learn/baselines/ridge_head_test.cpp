// Ridge regression against its normal equations.
#include "annulus/learn/baselines/ridge_head.h"

#include <gtest/gtest.h>

#include <vector>

#include "annulus/kernels/gaussian.h"

namespace annulus {
namespace {

// At the optimum, the rows' products with the residuals are the penalty times the weights, and residuals sum to zero;
// for more dimensions than rows and for fewer.
TEST(RidgeHead, GradientIsZero) {
  constexpr double kPenalty = 0.3;
  const std::vector<std::int32_t> labels{0, 0, 1, 2, 2, 2, 1};
  for (const std::size_t dimension : {std::size_t{3}, std::size_t{20}}) {
    Matrix<float> rows(labels.size(), dimension);
    fill_gaussian({1, RandomUse::kSynthetic, 0}, 0, {rows.data(), labels.size() * dimension});
    const Head<float> head = ridge_head(rows.view(), labels, 3, kPenalty, 1);
    for (std::size_t c = 0; c < 3; ++c) {
      std::vector<double> gradient(dimension, 0.0);
      double sum = 0.0;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        double residual = (static_cast<std::size_t>(labels[i]) == c ? 1.0 : -1.0) - static_cast<double>(head.bias[c]);
        for (std::size_t j = 0; j < dimension; ++j)
          residual -= static_cast<double>(rows(i, j)) * static_cast<double>(head.direction(c, j));
        for (std::size_t j = 0; j < dimension; ++j) gradient[j] += residual * static_cast<double>(rows(i, j));
        sum += residual;
      }
      EXPECT_NEAR(sum, 0.0, 1e-5);
      for (std::size_t j = 0; j < dimension; ++j) {
        EXPECT_NEAR(gradient[j], kPenalty * static_cast<double>(head.direction(c, j)), 1e-5) << dimension;
      }
    }
  }
}

}  // namespace
}  // namespace annulus
