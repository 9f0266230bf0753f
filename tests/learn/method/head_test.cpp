// Fresh heads, effective weights and logits against their formulas.
#include "annulus/learn/method/head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

TEST(Head, StartsUniformWithGainsOfItsDirectionsLengths) {
  const auto head = initial_head<double>(HeadKind::kCosine, 40, 16, 3, 5);
  double largest = 0.0;
  for (std::size_t c = 0; c < 40; ++c) {
    double squares = 0.0;
    for (std::size_t j = 0; j < 16; ++j) {
      squares += std::pow(head.direction(c, j), 2);
      largest = std::max(largest, std::abs(head.direction(c, j)));
    }
    EXPECT_NEAR(head.gain[c], std::sqrt(squares), 1e-12);
  }
  EXPECT_LE(largest, 0.25);  // 1 / sqrt(16)
  EXPECT_GT(largest, 0.24);
  EXPECT_TRUE(head.bias.empty());
  EXPECT_NE(initial_head<double>(HeadKind::kCosine, 40, 16, 4, 5).gain, head.gain);
  EXPECT_NE(initial_head<double>(HeadKind::kCosine, 40, 16, 3, 6).gain, head.gain);
}

TEST(Head, ABlockIsThatPartOfTheWhole) {
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    const auto whole = initial_head<float>(kind, 9, 4, 1, 2);
    const auto block = initial_head<float>(kind, 9, 4, 1, 2, Slice{3, 4});
    ASSERT_EQ(block.classes(), 4U);
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(block.direction(c, j), whole.direction(3 + c, j));
      const auto& number = kind == HeadKind::kCosine ? &Head<float>::gain : &Head<float>::bias;
      EXPECT_EQ((block.*number)[c], (whole.*number)[3 + c]);
    }
  }
}

TEST(Head, LogitsFollowTheirFormulas) {
  Head<double> head{HeadKind::kCosine, Matrix<double>(1, 2), {2.0}, {}};
  head.direction(0, 0) = 3.0;
  head.direction(0, 1) = 4.0;
  Matrix<double> rows(1, 2);
  rows(0, 0) = 0.5;
  rows(0, 1) = -0.25;
  Matrix<double> logits(1, 1);
  compute_logits(head, std::as_const(rows).view(), logits.view());
  const double length = std::sqrt(0.5 * 0.5 + 0.25 * 0.25);
  const double product = 2.0 * (0.6 * 0.5 - 0.8 * 0.25);  // g v / |v| . x
  EXPECT_NEAR(logits(0, 0), 10.0 * product / (length + 1e-5), 1e-12);
  Matrix<double> weights(1, 2);
  effective_weights(head, weights.view());
  EXPECT_NEAR(weights(0, 0), 1.2, 1e-12);
  EXPECT_NEAR(weights(0, 1), 1.6, 1e-12);
  head.kind = HeadKind::kLinear;
  head.gain.clear();
  head.bias = {0.125};
  compute_logits(head, std::as_const(rows).view(), logits.view());
  EXPECT_NEAR(logits(0, 0), 3.0 * 0.5 - 4.0 * 0.25 + 0.125, 1e-12);
}

TEST(Head, NamesAreReadAsTheyAreWritten) {
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) EXPECT_EQ(head_kind_from(to_string(kind)), kind);
  expect_error(ErrorKind::kUsage, "square", [] { head_kind_from("square"); });
}

}  // namespace
}  // namespace annulus
