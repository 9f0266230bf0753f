// Leave-one-out errors from the tridiagonal form of the rows' products, which keeps its form when a penalty is added.
#include "annulus/learn/baselines/ridge_path.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cstddef>

#include "annulus/kernels/gemm.h"
#include "annulus/learn/ensemble/cholesky.h"

namespace annulus {
namespace {

constexpr double kLeastRest = 1e-9;  // of 1 - h: below, nothing but the row itself determines its prediction

using SquareMatrix = Eigen::MatrixXd;

template <class T>
void centre_columns(MatrixView<T> rows) {
  std::vector<double> means(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < means.size(); ++j) means[j] += static_cast<double>(rows(i, j));
  }
  for (double& mean : means) mean /= static_cast<double>(rows.rows());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < means.size(); ++j) {
      rows(i, j) = static_cast<T>(static_cast<double>(rows(i, j)) - means[j]);
    }
  }
}

SquareMatrix lower_half(const Matrix<float>& products) {
  const auto order = static_cast<Eigen::Index>(products.rows());
  SquareMatrix result = SquareMatrix::Zero(order, order);
  for (Eigen::Index j = 0; j < order; ++j) {
    for (Eigen::Index i = j; i < order; ++i) {
      result(i, j) = static_cast<double>(products(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
    }
  }
  return result;
}

}  // namespace

RidgePath::RidgePath(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                     int threads)
    : threads_(threads), dual_(rows.rows() <= rows.cols()), targets_(rows.rows(), classes) {
  Matrix<float> centred(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(rows.row(i).begin(), rows.row(i).end(), centred.row(i).begin());
    std::fill(targets_.row(i).begin(), targets_.row(i).end(), -1.0F);
    targets_(i, static_cast<std::size_t>(labels[i])) = 1.0F;
  }
  centre_columns(centred.view());
  centre_columns(targets_.view());
  decompose(centred.view());
  Matrix<float> projected(basis_.rows(), classes);
  gemm(Transpose::kNo, Transpose::kNo, 1.0F, basis_.view(), targets_.view(), 0.0F, projected.view(), threads_);
  projected_ = Matrix<double>(basis_.rows(), classes);
  std::copy(projected.data(), projected.data() + projected.rows() * classes, projected_.data());
}

void RidgePath::decompose(ConstMatrixView<float> centred) {
  const std::size_t order = std::min(centred.rows(), centred.cols());
  Matrix<float> products(order, order);
  lower_product(dual_ ? Transpose::kNo : Transpose::kYes, 1.0F, centred, 0.0F, products.view(), threads_);
  SquareMatrix system = lower_half(products);
  if (dual_) {
    // Centred rows have no product with the vector of ones. With such a product, whose part in the inverse is known,
    // what the intercept takes is not the difference of two large values.
    intercept_ = system.trace() / static_cast<double>(order);
    system.array() += intercept_ / static_cast<double>(order);
  }
  const Eigen::Tridiagonalization<SquareMatrix> form(system);
  const SquareMatrix q = form.matrixQ();
  const Eigen::VectorXd diagonal = form.diagonal();
  diagonal_.assign(diagonal.data(), diagonal.data() + order);
  const Eigen::VectorXd sides = form.subDiagonal();
  sides_.assign(sides.data(), sides.data() + sides.size());
  Matrix<float>& transposed = products;  // q^T, of the same size
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) {
      transposed(i, j) = static_cast<float>(q(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)));
    }
  }
  if (dual_) {
    basis_ = std::move(products);
    return;
  }
  basis_ = Matrix<float>(order, centred.rows());
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, transposed.view(), centred, 0.0F, basis_.view(), threads_);
}

RidgePath::Factor RidgePath::factor(double penalty) const {
  Factor result{std::vector<double>(diagonal_.size(), 0.0), std::vector<double>(diagonal_.size())};
  for (std::size_t k = 0; k < diagonal_.size(); ++k) {
    double pivot = diagonal_[k] + penalty;
    if (k > 0) {
      result.below[k] = sides_[k - 1] * result.inverse[k - 1];
      pivot -= result.below[k] * sides_[k - 1];
    }
    // Exact arithmetic leaves at least the penalty.
    result.inverse[k] = 1.0 / std::max(pivot, penalty);
  }
  return result;
}

std::vector<double> RidgePath::influence(const Factor& factor) const {
  std::vector<double> solved(basis_.cols(), 0.0);  // row k of l^-1 basis
  std::vector<double> result(basis_.cols(), 0.0);
  for (std::size_t k = 0; k < basis_.rows(); ++k) {
    const auto row = basis_.row(k);
    for (std::size_t i = 0; i < row.size(); ++i) {
      solved[i] = static_cast<double>(row[i]) - factor.below[k] * solved[i];
      result[i] += solved[i] * solved[i] * factor.inverse[k];
    }
  }
  return result;
}

Matrix<float> RidgePath::coefficients(const Factor& factor) const {
  Matrix<double> solved = projected_.clone();
  const std::size_t order = solved.rows();
  for (std::size_t k = 1; k < order; ++k) {
    for (std::size_t c = 0; c < solved.cols(); ++c) solved(k, c) -= factor.below[k] * solved(k - 1, c);
  }
  for (std::size_t k = order; k-- > 0;) {
    for (std::size_t c = 0; c < solved.cols(); ++c) {
      solved(k, c) *= factor.inverse[k];
      if (k + 1 < order) solved(k, c) -= factor.below[k + 1] * solved(k + 1, c);
    }
  }
  Matrix<float> result(order, solved.cols());
  std::transform(solved.data(), solved.data() + order * solved.cols(), result.data(),
                 [](double value) { return static_cast<float>(value); });
  return result;
}

// With products G of the centred rows: in the dual form residuals are penalty (G + penalty)^-1 y, and 1 - h is penalty
// times the diagonal of that inverse, less the part of the vector of ones.
double RidgePath::leave_one_out_error(double penalty) const {
  const Factor system = factor(penalty);
  const std::vector<double> own = influence(system);
  const Matrix<float> solved = coefficients(system);
  Matrix<float> fitted(targets_.rows(), targets_.cols());
  gemm(Transpose::kYes, Transpose::kNo, 1.0F, basis_.view(), solved.view(), 0.0F, fitted.view(), threads_);
  const double ones = (dual_ ? penalty / (penalty + intercept_) : 1.0) / static_cast<double>(targets_.rows());
  double sum = 0.0;
  for (std::size_t i = 0; i < targets_.rows(); ++i) {
    double squares = 0.0;
    for (std::size_t c = 0; c < targets_.cols(); ++c) {
      const auto value = static_cast<double>(fitted(i, c));
      const double residual = dual_ ? penalty * value : static_cast<double>(targets_(i, c)) - value;
      squares += residual * residual;
    }
    const double rest = std::max((dual_ ? penalty * own[i] : 1.0 - own[i]) - ones, kLeastRest);
    sum += squares / (rest * rest);
  }
  return sum;
}

}  // namespace annulus
