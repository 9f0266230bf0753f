// Prototypes rectified by queries, computed by hand in two dimensions.
#include "annulus/learn/transductive/rectified_prototypes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace annulus {
namespace {

Matrix<float> rows_of(const std::vector<std::vector<float>>& rows) {
  Matrix<float> matrix(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) std::copy(rows[i].begin(), rows[i].end(), matrix.row(i).begin());
  return matrix;
}

TEST(RectifiedPrototypes, QueriesAreShiftedOntoTheSupport) {
  const LabelledExamples support{rows_of({{2, 0}, {0, 5}}), {0, 1}, 2};
  // Of unit length (-1, 0) and (0, -1): their mean (-0.5, -0.5) moves to (0.5, 0.5).
  const RectifiedPrototypes result = rectify_prototypes(support, rows_of({{-3, 0}, {0, -1}}).view(), 1);
  EXPECT_NEAR(result.queries(0, 0), 0.0, 1e-6);
  EXPECT_NEAR(result.queries(0, 1), 1.0, 1e-6);
  EXPECT_NEAR(result.queries(1, 0), 1.0, 1e-6);
  EXPECT_NEAR(result.queries(1, 1), 0.0, 1e-6);
}

TEST(RectifiedPrototypes, WeightsAreASoftmaxOverTheExamplesOfAClass) {
  const LabelledExamples support{rows_of({{1, 0}, {0, 1}}), {0, 1}, 2};
  const RectifiedPrototypes result = rectify_prototypes(support, rows_of({{0.8F, 0.6F}, {0.6F, 0.8F}}).view(), 1);
  // The queries' mean is (0.7, 0.7): shifted by (-0.2, -0.2) they are (0.6, 0.4) and (0.4, 0.6).
  const double cosine = 0.6 / std::sqrt(0.52);
  const double weight = std::exp(10.0 * cosine) / (std::exp(10.0 * cosine) + std::exp(10.0));
  EXPECT_NEAR(result.prototypes(0, 0), 1.0 - weight + weight * 0.6, 1e-5);
  EXPECT_NEAR(result.prototypes(0, 1), weight * 0.4, 1e-5);
  EXPECT_NEAR(result.prototypes(1, 0), weight * 0.4, 1e-5);
  EXPECT_NEAR(result.prototypes(1, 1), 1.0 - weight + weight * 0.6, 1e-5);
}

}  // namespace
}  // namespace annulus
