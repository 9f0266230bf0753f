// Compares rows by the bits of their values.
#include "annulus/eval/pool/pool_rows.h"

#include <algorithm>
#include <numeric>

#include "annulus/learn/model/prepared_head.h"

namespace annulus {

Matrix<float> features_of(const FeatureSet& set) {
  Matrix<float> rows(set.rows(), set.dimension());
  if (set.rows() != 0) set.copy_rows(0, rows.view());
  return rows;
}

void make_comparable(MatrixView<float> rows) {
  bool negative = false;
  for (std::size_t i = 0; i < rows.rows() && !negative; ++i) {
    const auto row = rows.row(i);
    negative = std::any_of(row.begin(), row.end(), [](float value) { return value < 0.0F; });
  }
  prepare_rows({negative ? 1.0F : 0.5F, {}, {}}, rows);
}

std::vector<std::size_t> content_order(ConstMatrixView<float> rows, std::span<const std::string> paths) {
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto one = rows.row(a);
    const auto other = rows.row(b);
    const auto [left, right] = std::mismatch(one.begin(), one.end(), other.begin());
    if (left != one.end()) return *left < *right;
    return !paths.empty() && paths[a] < paths[b];
  });
  return order;
}

}  // namespace annulus
