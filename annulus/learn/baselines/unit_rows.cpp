// Normalises, averages and multiplies rows.
#include "annulus/learn/baselines/unit_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "annulus/kernels/gemm.h"

namespace annulus {
namespace {

// In double, with several sums at a time, so that additions do not wait for each other.
double exact_squares(std::span<const float> row) {
  std::array<double, 8> sums{};
  std::size_t j = 0;
  for (; j + sums.size() <= row.size(); j += sums.size()) {
    for (std::size_t s = 0; s < sums.size(); ++s) {
      sums[s] += static_cast<double>(row[j + s]) * static_cast<double>(row[j + s]);
    }
  }
  for (; j < row.size(); ++j) sums[0] += static_cast<double>(row[j]) * static_cast<double>(row[j]);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

template <class T>
Matrix<T> unit_rows(ConstMatrixView<float> rows) {
  Matrix<T> result(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto from = rows.row(i);
    const double squares = exact_squares(from);
    if (squares == 0.0) continue;
    const double scale = 1.0 / std::sqrt(squares);
    std::transform(from.begin(), from.end(), result.row(i).begin(),
                   [scale](float value) { return static_cast<T>(scale * static_cast<double>(value)); });
  }
  return result;
}

template Matrix<float> unit_rows<float>(ConstMatrixView<float> rows);
template Matrix<double> unit_rows<double>(ConstMatrixView<float> rows);

Matrix<float> cosines(ConstMatrixView<float> rows, ConstMatrixView<float> examples, int threads) {
  Matrix<float> result(rows.rows(), examples.rows());
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, unit_rows<float>(rows).view(), examples, 0.0F, result.view(), threads);
  return result;
}

std::vector<double> mean_row(ConstMatrixView<float> rows) {
  std::vector<double> mean(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += static_cast<double>(row[j]);
  }
  for (double& value : mean) value /= static_cast<double>(rows.rows());
  return mean;
}

}  // namespace annulus
