// Multinomial logistic regression finds its optimum.
#include "annulus/learn/baselines/softmax_regression.h"

#include <gtest/gtest.h>

#include <vector>

#include "annulus/kernels/gaussian.h"
#include "annulus/learn/calibration/calibration.h"

namespace annulus {
namespace {

TEST(Methods, LogisticRegressionFindsItsOptimumOnAnyFewRows) {
  // Five rows that are nearly the same, as an episode of one shot has them.
  const std::vector<std::int32_t> labels = {0, 1, 2, 3, 4};
  Matrix<float> rows(5, 64);
  for (std::uint64_t problem = 0; problem < 500; ++problem) {
    std::vector<float> numbers(5 * 64);
    fill_gaussian(RandomStream{problem, RandomUse::kSynthetic}, 0, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) rows.data()[i] = 0.125F + 0.005F * numbers[i];
    ASSERT_NO_THROW(softmax_regression(rows.view(), labels, 5, {}, {})) << problem;
  }
}

// Beyond the tolerance, where a search starts does not matter; at the optimum it stays.
TEST(Methods, LogisticRegressionStartsFromAGivenHead) {
  const std::vector<std::int32_t> labels = {0, 1, 2, 0, 1, 2};
  Matrix<float> rows(6, 8);
  fill_gaussian(RandomStream{1, RandomUse::kSynthetic}, 0, {rows.data(), 48});
  const Head<float> other = softmax_regression(rows.view(), labels, 3, {10.0, 1e-8}, {});
  const Head<float> from_zero = softmax_regression(rows.view(), labels, 3, {0.1, 1e-8}, {});
  const Head<float> from_other = softmax_regression(rows.view(), labels, 3, {0.1, 1e-8, 0, &other}, {});
  const Head<float> from_itself = softmax_regression(rows.view(), labels, 3, {0.1, 1e-4, 0, &from_zero}, {});
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_NEAR(from_other.direction.data()[i], from_zero.direction.data()[i], 1e-5);
    EXPECT_EQ(from_itself.direction.data()[i], from_zero.direction.data()[i]);
  }
}

}  // namespace
}  // namespace annulus
