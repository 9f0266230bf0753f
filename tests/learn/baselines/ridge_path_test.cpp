// Leave-one-out errors in closed form against fits that leave one example out.
#include "annulus/learn/baselines/ridge_path.h"

#include <gtest/gtest.h>

#include <vector>

#include "annulus/kernels/gaussian.h"
#include "annulus/learn/baselines/ridge_head.h"

namespace annulus {
namespace {

double error_without(const Matrix<float>& rows, const std::vector<std::int32_t>& labels, std::size_t left_out,
                     std::size_t classes, double penalty) {
  Matrix<float> kept(rows.rows() - 1, rows.cols());
  std::vector<std::int32_t> kept_labels;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (i == left_out) continue;
    std::copy(rows.row(i).begin(), rows.row(i).end(), kept.row(kept_labels.size()).begin());
    kept_labels.push_back(labels[i]);
  }
  const Head<float> head = ridge_head(kept.view(), kept_labels, classes, penalty, 1);
  double sum = 0.0;
  for (std::size_t c = 0; c < classes; ++c) {
    double residual =
        (static_cast<std::size_t>(labels[left_out]) == c ? 1.0 : -1.0) - static_cast<double>(head.bias[c]);
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      residual -= static_cast<double>(rows(left_out, j)) * static_cast<double>(head.direction(c, j));
    }
    sum += residual * residual;
  }
  return sum;
}

TEST(RidgePath, ErrorsAreThoseOfLeavingEachExampleOut) {
  const std::vector<std::int32_t> labels{0, 0, 1, 2, 2, 2, 1, 0, 1, 0};
  for (const std::size_t dimension : {std::size_t{1}, std::size_t{4}, std::size_t{10}, std::size_t{30}}) {
    Matrix<float> rows(labels.size(), dimension);
    fill_gaussian({2, RandomUse::kSynthetic, 0}, 0, {rows.data(), labels.size() * dimension});
    const RidgePath path(rows.view(), labels, 3, 1);
    const RidgePath shared(rows.view(), labels, 3, 3);
    for (const double penalty : {0.01, 1.0, 100.0}) {
      double expected = 0.0;
      for (std::size_t i = 0; i < labels.size(); ++i) expected += error_without(rows, labels, i, 3, penalty);
      EXPECT_NEAR(path.leave_one_out_error(penalty), expected, 1e-3 * expected) << dimension << " " << penalty;
      EXPECT_EQ(shared.leave_one_out_error(penalty), path.leave_one_out_error(penalty));
    }
  }
}

}  // namespace
}  // namespace annulus
