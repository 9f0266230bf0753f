// The within-class metric finds what varies within classes, weighs examples, and shrinks more where it would mislead.
#include "annulus/learn/transform/within_class_metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

struct Rows {
  Matrix<float> features;
  std::vector<std::int32_t> labels;
};

// Classes on a sphere of all dimensions; examples of a class vary along the first `loud` dimensions much more than
// along the others, or alike along all with `loud` 0.
Rows rows_with_spread(std::size_t classes, std::size_t shots, std::size_t dimension, std::size_t loud) {
  const RandomStream stream{7, RandomUse::kSynthetic, 2};
  Rows rows{Matrix<float>(classes * shots, dimension), {}};
  std::uint64_t index = 0;
  std::vector<float> centre(dimension);
  for (std::size_t c = 0; c < classes; ++c) {
    for (float& value : centre) value = static_cast<float>(stream.uniform(index++) - 0.5);
    for (std::size_t k = 0; k < shots; ++k) {
      const auto row = rows.features.row(c * shots + k);
      for (std::size_t j = 0; j < dimension; ++j) {
        const double spread = j < loud ? 4.0 : 0.6;
        row[j] = centre[j] + static_cast<float>(spread * (stream.uniform(index++) - 0.5));
      }
      rows.labels.push_back(static_cast<std::int32_t>(c));
    }
  }
  return rows;
}

WithinClassMetric learn(const Rows& rows, std::size_t classes, std::optional<double> strength = {},
                        std::span<const float> weights = {}, int threads = 2) {
  return learn_within_class_metric(rows.features.view(), rows.labels, classes, weights, {}, strength, threads);
}

// How much of a unit vector along dimension `j` the metric leaves.
float left_of(const Metric& metric, std::size_t j, std::size_t dimension) {
  Matrix<float> row(1, dimension);
  row(0, j) = 1.0F;
  apply_metric(metric, row.view(), 1);
  return row(0, j);
}

TEST(WithinClassMetric, ShrinksDirectionsThatVaryWithinClasses) {
  const Rows rows = rows_with_spread(30, 4, 24, 3);
  const WithinClassMetric metric = learn(rows, 30);
  ASSERT_FALSE(metric.metric.empty());
  EXPECT_EQ(metric.examples, 120U);
  EXPECT_LT(left_of(metric.metric, 1, 24), 0.5F * left_of(metric.metric, 12, 24));
}

TEST(WithinClassMetric, IsShrunkMoreWhereItDoesNotCarryOverToOtherClasses) {
  const Rows alike = rows_with_spread(40, 3, 48, 4);
  Rows unlike = rows_with_spread(40, 3, 48, 4);
  // Every other class varies along other dimensions.
  for (std::size_t i = 0; i < unlike.labels.size(); ++i) {
    const auto row = unlike.features.row(i);
    if (unlike.labels[i] % 2 == 1) std::swap_ranges(row.begin(), row.begin() + 4, row.begin() + 4);
  }
  EXPECT_LT(learn(alike, 40).strength, learn(unlike, 40).strength);
  EXPECT_LT(learn(alike, 40).shrinkage, learn(unlike, 40).shrinkage);
}

TEST(WithinClassMetric, ShrinkageFollowsFromTheStrength) {
  const WithinClassMetric metric = learn(rows_with_spread(10, 4, 20, 2), 10, 2.0);
  EXPECT_DOUBLE_EQ(metric.strength, 2.0);
  EXPECT_DOUBLE_EQ(metric.shrinkage, 2.0 * 20.0 / (2.0 * 20.0 + 40.0));
}

TEST(WithinClassMetric, OneExampleOfEachClassGivesNone) {
  const WithinClassMetric metric = learn(rows_with_spread(10, 1, 20, 2), 10);
  EXPECT_TRUE(metric.metric.empty());
  EXPECT_EQ(metric.examples, 0U);
  EXPECT_DOUBLE_EQ(metric.shrinkage, 1.0);
}

TEST(WithinClassMetric, ClassesOfOneExampleDoNotCount) {
  Rows rows = rows_with_spread(12, 3, 16, 2);
  const WithinClassMetric before = learn(rows, 12, 1.0);
  Rows more{Matrix<float>(37, 16), rows.labels};
  for (std::size_t i = 0; i < 36; ++i) {
    std::copy(rows.features.row(i).begin(), rows.features.row(i).end(), more.features.row(i).begin());
  }
  more.features(36, 0) = 9.0F;
  more.labels.push_back(12);
  const WithinClassMetric after = learn(more, 13, 1.0);
  EXPECT_EQ(after.metric, before.metric);
  EXPECT_EQ(after.examples, before.examples);
}

TEST(WithinClassMetric, AnExampleOfWeightTwoCountsAsTwo) {
  const Rows rows = rows_with_spread(9, 3, 8, 2);
  std::vector<float> weights(27, 1.0F);
  Rows twice{Matrix<float>(36, 8), {}};
  std::size_t to = 0;
  for (std::size_t i = 0; i < 27; ++i) {
    const std::size_t copies = i % 3 == 1 ? 2 : 1;
    weights[i] = static_cast<float>(copies);
    for (std::size_t copy = 0; copy < copies; ++copy) {
      std::copy(rows.features.row(i).begin(), rows.features.row(i).end(), twice.features.row(to++).begin());
      twice.labels.push_back(rows.labels[i]);
    }
  }
  // The same shrinkage for both, so that only the directions are compared.
  const auto strength = [](std::size_t examples) { return static_cast<double>(examples) / 27.0; };
  const Metric weighted = learn(rows, 9, strength(27), weights).metric;
  const Metric copied = learn(twice, 9, strength(36)).metric;
  for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(left_of(weighted, j, 8), left_of(copied, j, 8), 0.02F);
  std::vector<float> doubled = weights;
  for (float& weight : doubled) weight *= 2.0F;
  const Metric same = learn(rows, 9, strength(27), doubled).metric;
  for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(left_of(weighted, j, 8), left_of(same, j, 8), 1e-3F);
}

TEST(WithinClassMetric, TheSameBitsForAnyNumberOfThreads) {
  const Rows rows = rows_with_spread(50, 5, 40, 5);
  const WithinClassMetric one = learn(rows, 50, {}, {}, 1);
  const WithinClassMetric four = learn(rows, 50, {}, {}, 4);
  EXPECT_EQ(one.metric, four.metric);
  EXPECT_EQ(one.strength, four.strength);
}

TEST(WithinClassMetric, ExamplesThatDoNotDifferGiveNone) {
  Rows rows = rows_with_spread(6, 2, 10, 1);
  for (std::size_t i = 0; i < 12; i += 2) {
    std::copy(rows.features.row(i).begin(), rows.features.row(i).end(), rows.features.row(i + 1).begin());
  }
  EXPECT_TRUE(learn(rows, 6).metric.empty());
}

}  // namespace
}  // namespace annulus
