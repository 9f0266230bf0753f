// Right-looking factorisation: small tiles on the diagonal in double, everything else by products.
#include "annulus/learn/ensemble/cholesky.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kFactorTile = 128;
constexpr std::size_t kStrip = 256;  // rows of a symmetric product that reach equally far to the right

// A part of a larger matrix.
MatrixView<float> corner_part(MatrixView<float> matrix, std::size_t row, std::size_t rows, std::size_t col,
                              std::size_t cols) {
  return {matrix.data() + row * matrix.stride() + col, rows, cols, matrix.stride()};
}

ConstMatrixView<float> corner_part(ConstMatrixView<float> matrix, std::size_t row, std::size_t rows, std::size_t col,
                                   std::size_t cols) {
  return {matrix.data() + row * matrix.stride() + col, rows, cols, matrix.stride()};
}

// Factors a tile in place and returns the inverse of the factor.
Matrix<float> factor_tile(MatrixView<float> tile) {
  const std::size_t n = tile.rows();
  Matrix<double> lower(n, n);
  Matrix<double> inverse(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      auto sum = static_cast<double>(tile(i, j));
      for (std::size_t k = 0; k < j; ++k) sum -= lower(i, k) * lower(j, k);
      if (i == j && !(sum > 0.0)) {
        fail(ErrorKind::kInternal, "expected a ridge system with a Cholesky factor, found none");
      }
      lower(i, j) = i == j ? std::sqrt(sum) : sum / lower(j, j);
    }
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 1.0 : 0.0;
      for (std::size_t k = j; k < i; ++k) sum -= lower(i, k) * inverse(k, j);
      inverse(i, j) = sum / lower(i, i);
    }
  }
  Matrix<float> result(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      tile(i, j) = static_cast<float>(lower(i, j));
      result(i, j) = static_cast<float>(inverse(i, j));
    }
  }
  return result;
}

// target = target * op(tile), through a copy.
void multiply_from_right(MatrixView<float> target, Transpose transpose, const Matrix<float>& tile, int threads) {
  Matrix<float> copy(target.rows(), target.cols());
  for (std::size_t i = 0; i < target.rows(); ++i) {
    std::copy(target.row(i).begin(), target.row(i).end(), copy.row(i).begin());
  }
  gemm(Transpose::kNo, transpose, 1.0F, std::as_const(copy).view(), tile.view(), 0.0F, target, threads);
}

}  // namespace

void lower_product(Transpose transpose, float alpha, ConstMatrixView<float> a, float beta, MatrixView<float> c,
                   int threads) {
  const bool flip = transpose == Transpose::kYes;
  const auto rows_at = [&](std::size_t first, std::size_t count) {
    return flip ? corner_part(a, 0, a.rows(), first, count) : corner_part(a, first, count, 0, a.cols());
  };
  std::vector<GemmCall<float>> calls;
  // The longest first, so that threads end at about the same time.
  for (std::size_t strip = (c.rows() + kStrip - 1) / kStrip; strip-- > 0;) {
    const std::size_t first = strip * kStrip;
    const std::size_t size = std::min(kStrip, c.rows() - first);
    calls.push_back({transpose, flip ? Transpose::kNo : Transpose::kYes, alpha, rows_at(first, size),
                     rows_at(0, first + size), beta, corner_part(c, first, size, 0, first + size)});
  }
  gemm(calls, threads);
}

CholeskyFactor::CholeskyFactor(ConstMatrixView<float> system, int threads)
    : factor_(reuse_apart(memory_, system.rows(), system.cols())) {
  const std::size_t n = factor_.rows();
  const MatrixView<float> a = factor_;
  for (std::size_t i = 0; i < n; ++i) std::copy_n(system.row(i).begin(), i + 1, a.row(i).begin());
  for (std::size_t first = 0; first < n; first += kFactorTile) {
    const std::size_t size = std::min(kFactorTile, n - first);
    inverses_.push_back(factor_tile(corner_part(a, first, size, first, size)));
    const std::size_t next = first + size;
    if (next == n) break;
    const MatrixView<float> panel = corner_part(a, next, n - next, first, size);
    multiply_from_right(panel, Transpose::kYes, inverses_.back(), threads);
    const ConstMatrixView<float> done = corner_part(ConstMatrixView<float>(a), next, n - next, first, size);
    lower_product(Transpose::kNo, -1.0F, done, 1.0F, corner_part(a, next, n - next, next, n - next), threads);
  }
}

void CholeskyFactor::solve_rows(MatrixView<float> rows, int threads) const {
  const std::size_t n = factor_.rows();
  const ConstMatrixView<float> lower = factor_;
  const auto columns = [&](std::size_t first, std::size_t count) {
    return corner_part(rows, 0, rows.rows(), first, count);
  };
  const auto solved = [&](std::size_t first, std::size_t count) {
    return corner_part(ConstMatrixView<float>(rows), 0, rows.rows(), first, count);
  };
  for (std::size_t tile = 0; tile < inverses_.size(); ++tile) {
    const std::size_t first = tile * kFactorTile;
    const std::size_t size = inverses_[tile].rows();
    multiply_from_right(columns(first, size), Transpose::kYes, inverses_[tile], threads);
    const std::size_t next = first + size;
    if (next == n) break;
    gemm(Transpose::kNo, Transpose::kYes, -1.0F, solved(first, size), corner_part(lower, next, n - next, first, size),
         1.0F, columns(next, n - next), threads);
  }
  for (std::size_t tile = inverses_.size(); tile-- > 0;) {
    const std::size_t first = tile * kFactorTile;
    const std::size_t size = inverses_[tile].rows();
    multiply_from_right(columns(first, size), Transpose::kNo, inverses_[tile], threads);
    if (first == 0) break;
    gemm(Transpose::kNo, Transpose::kNo, -1.0F, solved(first, size), corner_part(lower, first, size, 0, first), 1.0F,
         columns(0, first), threads);
  }
}

}  // namespace annulus
