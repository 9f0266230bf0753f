// Nearest neighbours against all pairs.
#include "annulus/eval/audit/neighbours.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "annulus/eval/audit/audit.h"
#include "annulus/eval/audit/class_audit.h"
#include "annulus/report/html/audit_page.h"
#include "tests/fixtures/generated_set.h"

namespace annulus {
namespace {

TEST(Neighbours, AreThoseOfAllPairs) {
  const FeatureSet set = generated_set(50, 25, 1.0);  // more rows than a block
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  ASSERT_GT(rows.rows(), 1024U);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    double squares = 0.0;
    for (const float value : rows.row(i)) squares += static_cast<double>(value) * static_cast<double>(value);
    for (float& value : rows.row(i)) value = static_cast<float>(static_cast<double>(value) / std::sqrt(squares));
  }
  const Neighbours neighbours = nearest_rows(rows.view(), 3, 2, {});
  for (const std::size_t i :
       {std::size_t{0}, std::size_t{700}, std::size_t{1023}, std::size_t{1024}, rows.rows() - 1}) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t j = 0; j < rows.rows(); ++j) {
      if (j == i) continue;
      double product = 0.0;
      for (std::size_t d = 0; d < rows.cols(); ++d) {
        product += static_cast<double>(rows(i, d)) * static_cast<double>(rows(j, d));
      }
      all.emplace_back(-product, j);
    }
    std::partial_sort(all.begin(), all.begin() + 3, all.end());
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(neighbours.row(i, k), all[k].second) << i << " " << k;
      EXPECT_NEAR(static_cast<double>(neighbours.cosine(i, k)), -all[k].first, 1e-5);
    }
  }
}

}  // namespace
}  // namespace annulus
