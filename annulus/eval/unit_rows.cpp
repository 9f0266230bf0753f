// Scales rows and multiplies them.
#include "annulus/eval/unit_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "annulus/kernels/gemm.h"

namespace annulus {

template <class T>
Matrix<T> unit_rows(ConstMatrixView<float> rows) {
  Matrix<T> result(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto from = rows.row(i);
    double squares = 0.0;
    for (const float value : from) squares += static_cast<double>(value) * static_cast<double>(value);
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

}  // namespace annulus
