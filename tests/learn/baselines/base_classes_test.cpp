// Base classes: their deviations, and sets that cannot serve.
#include "annulus/learn/baselines/base_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/calibration/calibration.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

TEST(BaseClasses, DeviationsHaveTheCovarianceOfTheirClass) {
  Matrix<float> rows(3, 2);
  const float values[] = {0.6F, 0.8F, 0.8F, 0.6F, 1.0F, 0.0F};
  std::copy(std::begin(values), std::end(values), rows.data());
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.labels = {0, 0, 0};
  const BaseClasses base{FeatureSet(std::move(parts))};
  const double x[] = {std::sqrt(0.6), std::sqrt(0.8), 1.0};
  const double mean = (x[0] + x[1] + x[2]) / 3.0;
  EXPECT_NEAR(base.means()(0, 0), mean, 1e-6);
  double variance = 0.0;
  for (const double value : x) variance += (value - mean) * (value - mean) / 2.0;
  const Matrix<float> deviations = base.deviations(0);
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i) sum += std::pow(static_cast<double>(deviations(i, 0)), 2);
  EXPECT_NEAR(sum, variance, 1e-6);
}

TEST(BaseClasses, RejectsAClassWithOneRowAndRowsWithoutLabels) {
  FeatureSetParts lonely = parts_of(at_degrees({0, 1, 90}));
  lonely.labels = {0, 0, 1};
  EXPECT_THROW(BaseClasses{FeatureSet(std::move(lonely))}, Error);
  EXPECT_THROW(BaseClasses{FeatureSet(parts_of(at_degrees({0, 1})))}, Error);
}

}  // namespace
}  // namespace annulus
