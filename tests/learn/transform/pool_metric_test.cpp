// The metric of unlabelled examples: which directions it finds, and what it does not depend on.
#include "annulus/learn/transform/pool_metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "annulus/base/random.h"

namespace annulus {
namespace {

constexpr std::size_t kDimension = 24;
constexpr std::size_t kNoisy = 5;  // the direction in which examples of a class differ most

// Clusters that differ in all directions, with examples that differ mostly along one.
Matrix<float> clusters(std::size_t count, std::size_t examples) {
  const RandomStream random{11, RandomUse::kSynthetic, 3};
  Matrix<float> rows(count * examples, kDimension);
  std::uint64_t next = 0;
  const auto number = [&] { return static_cast<float>(random.uniform(next++) - 0.5); };
  for (std::size_t c = 0; c < count; ++c) {
    std::vector<float> mean;
    for (std::size_t j = 0; j < kDimension; ++j) mean.push_back(4.0F * number());
    for (std::size_t i = 0; i < examples; ++i) {
      const auto row = rows.row(c * examples + i);
      for (std::size_t j = 0; j < kDimension; ++j) row[j] = mean[j] + (j == kNoisy ? 4.0F : 0.2F) * number();
    }
  }
  return rows;
}

TEST(PoolMetric, FindsTheDirectionInWhichNeighboursDiffer) {
  const Matrix<float> rows = clusters(10, 12);
  const PoolMetric learnt = learn_pool_metric(rows.view(), 1.0F, 1);
  EXPECT_EQ(learnt.looked_at, 120U);
  EXPECT_EQ(learnt.copies, 0U);
  ASSERT_GE(learnt.prior.metric.rank(), 1U);
  EXPECT_GT(std::abs(learnt.prior.metric.axes[kNoisy]), 0.9F);
  EXPECT_GT(learnt.prior.metric.shrink[0], 0.5F);
  EXPECT_EQ(learnt.prior.checksum.size(), 64U);
}

TEST(PoolMetric, NeitherTheOrderOfRowsNorThreadsMatter) {
  const Matrix<float> rows = clusters(30, 20);
  Matrix<float> reversed(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::copy(rows.row(rows.rows() - 1 - i), reversed.row(i).begin());
  }
  const PoolMetric one = learn_pool_metric(rows.view(), 1.0F, 1);
  const PoolMetric other = learn_pool_metric(std::as_const(reversed).view(), 1.0F, 3);
  ASSERT_FALSE(one.prior.metric.empty());
  EXPECT_EQ(one.prior.metric, other.prior.metric);
  EXPECT_EQ(one.prior.checksum, other.prior.checksum);
}

TEST(PoolMetric, CopiesSayNothing) {
  const Matrix<float> some = clusters(4, 10);
  Matrix<float> twice(80, kDimension);
  for (std::size_t i = 0; i < 80; ++i) std::ranges::copy(some.row(i / 2), twice.row(i).begin());
  const PoolMetric learnt = learn_pool_metric(std::as_const(twice).view(), 1.0F, 1);
  EXPECT_EQ(learnt.copies, 80U);
  EXPECT_TRUE(learnt.prior.metric.empty());
}

TEST(PoolMetric, AFewExamplesAreTooFew) {
  const Matrix<float> rows = clusters(5, 3);
  EXPECT_TRUE(learn_pool_metric(rows.view(), 1.0F, 1).prior.metric.empty());
}

}  // namespace
}  // namespace annulus
