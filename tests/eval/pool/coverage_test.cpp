// Greedy coverage against gains computed the long way.
#include "annulus/eval/pool/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "annulus/eval/pool/pool_rows.h"
#include "tests/fixtures/generated_pool.h"

namespace annulus {
namespace {

// cover(s, i) of all pairs of neighbours in either direction.
std::vector<std::vector<double>> covers_of(const Neighbours& neighbours) {
  const std::size_t rows = neighbours.row.rows();
  double width = 0.0;
  for (std::size_t i = 0; i < rows; ++i)
    width += (1.0 - static_cast<double>(neighbours.cosine(i, 9))) / static_cast<double>(rows);
  std::vector<std::vector<double>> covers(rows, std::vector<double>(rows, 0.0));
  for (std::size_t i = 0; i < rows; ++i) {
    covers[i][i] = 1.0;
    for (std::size_t k = 0; k < neighbours.row.cols(); ++k) {
      const double cover = std::exp(-(1.0 - static_cast<double>(neighbours.cosine(i, k))) / width);
      covers[i][neighbours.row(i, k)] = covers[neighbours.row(i, k)][i] = cover;
    }
  }
  return covers;
}

TEST(Coverage, ChoosesWhatAddsMost) {
  Matrix<float> rows = features_of(generated_pool(6, 15, 1.0));
  make_comparable(rows.view());
  const Neighbours neighbours = nearest_rows(rows.view(), 12, 1, {});
  const auto covers = covers_of(neighbours);
  std::vector<float> weights(rows.rows());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.2F + static_cast<float>(i % 7);
  Coverage coverage(neighbours);
  const auto chosen = coverage.choose(8, weights, std::vector<std::uint8_t>(rows.rows(), 1));
  ASSERT_EQ(chosen.size(), 8U);
  std::vector<double> covered(rows.rows(), 0.0);
  for (const auto& [row, gain] : chosen) {
    double most = 0.0;
    double own = 0.0;
    for (std::size_t s = 0; s < rows.rows(); ++s) {
      double adds = 0.0;
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        adds += static_cast<double>(weights[i]) * std::max(0.0, covers[s][i] - covered[i]);
      }
      most = std::max(most, adds);
      if (s == row) own = adds;
    }
    EXPECT_NEAR(own, most, 1e-4 * most);
    EXPECT_NEAR(gain, own, 1e-4 * own);
    for (std::size_t i = 0; i < rows.rows(); ++i) covered[i] = std::max(covered[i], covers[row][i]);
  }
}

TEST(Coverage, ChoosesOnlyWhatItMayAndNothingTwice) {
  Matrix<float> rows = features_of(generated_pool(3, 5));
  make_comparable(rows.view());
  Coverage coverage(nearest_rows(rows.view(), 4, 1, {}));
  std::vector<std::uint8_t> may(rows.rows(), 0);
  may[2] = may[9] = 1;
  const auto chosen = coverage.choose(5, std::vector<float>(rows.rows(), 1.0F), may);
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_NE(chosen[0].row, chosen[1].row);
  EXPECT_EQ(coverage.covered_by(2), 2U);
  EXPECT_EQ(coverage.covered(9), 1.0);
}

}  // namespace
}  // namespace annulus
