// Applies metrics, and finds leading directions by subspace iteration.
#include "annulus/learn/transform/metric.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/random.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

constexpr std::size_t kMappedRows = 4096;     // mapped at a time, so that coordinates along axes stay small
constexpr std::size_t kOversampling = 16;     // directions beyond those wanted: they make the last ones exact
constexpr int kSubspaceIterations = 3;        // of the subspace; variances of features fall fast enough
constexpr double kLeastAxisVariance = 1e-9;   // of an axis, in units of the largest: less is rounding
constexpr double kLeastMeanVariance = 1e-12;  // of rows of length about 1: less is rounding

using EigenRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<EigenRows> as_eigen(Matrix<float>& matrix) {
  return {matrix.data(), static_cast<Eigen::Index>(matrix.rows()), static_cast<Eigen::Index>(matrix.cols())};
}

Matrix<float> matrix_product(Transpose transpose_a, ConstMatrixView<float> a, Transpose transpose_b,
                             ConstMatrixView<float> b, int threads) {
  Matrix<float> result(transpose_a == Transpose::kNo ? a.rows() : a.cols(),
                       transpose_b == Transpose::kNo ? b.cols() : b.rows());
  gemm(transpose_a, transpose_b, 1.0F, a, b, 0.0F, result.view(), threads);
  return result;
}

// Replaces the columns by an orthonormal basis of the space that they span.
void orthonormalize(Matrix<float>& columns) {
  const auto view = as_eigen(columns);
  const Eigen::HouseholderQR<Eigen::MatrixXf> factors(view);
  as_eigen(columns) = factors.householderQ() * Eigen::MatrixXf::Identity(view.rows(), view.cols());
}

Matrix<float> random_columns(std::size_t rows, std::size_t cols) {
  const RandomStream stream{0, RandomUse::kSynthetic, 0};
  Matrix<float> columns(rows, cols);
  for (std::size_t i = 0; i < rows * cols; ++i) columns.data()[i] = static_cast<float>(stream.uniform(i) - 0.5);
  return columns;
}

// The rows of `basis` turned so that the scatter of `coordinates` (examples x basis) is diagonal, largest first.
Spectrum diagonal(ConstMatrixView<float> scatter, ConstMatrixView<float> basis, std::size_t rank, bool scale,
                  int threads) {
  const auto size = static_cast<Eigen::Index>(scatter.rows());
  Eigen::MatrixXd symmetric(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) {
      symmetric(i, j) = static_cast<double>(scatter(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  const Eigen::VectorXd& values = solver.eigenvalues();  // in ascending order
  Spectrum spectrum;
  const double least = kLeastAxisVariance * std::max(values(size - 1), 0.0);
  std::size_t count = 0;
  while (count < std::min(rank, scatter.rows()) && values(size - 1 - static_cast<Eigen::Index>(count)) > least) ++count;
  Matrix<float> turned(count, scatter.rows());
  for (std::size_t k = 0; k < count; ++k) {
    const Eigen::Index place = size - 1 - static_cast<Eigen::Index>(k);
    const double factor = scale ? 1.0 / std::sqrt(values(place)) : 1.0;
    spectrum.variances.push_back(values(place));
    for (Eigen::Index i = 0; i < size; ++i) {
      turned(k, static_cast<std::size_t>(i)) = static_cast<float>(factor * solver.eigenvectors()(i, place));
    }
  }
  if (count > 0)
    spectrum.axes = matrix_product(Transpose::kNo, std::as_const(turned).view(), Transpose::kNo, basis, threads);
  return spectrum;
}

}  // namespace

void apply_metric(const Metric& metric, MatrixView<float> rows, int threads) {
  if (metric.empty()) return;
  const ConstMatrixView<float> axes = metric.axes_view(rows.cols());
  Matrix<float> memory(std::min(kMappedRows, rows.rows()), metric.rank());
  for (std::size_t first = 0; first < rows.rows(); first += kMappedRows) {
    const MatrixView<float> block = rows.rows_at(first, std::min(kMappedRows, rows.rows() - first));
    const MatrixView<float> along = memory.view().rows_at(0, block.rows());
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, ConstMatrixView<float>(block), axes, 0.0F, along, threads);
    for (std::size_t i = 0; i < along.rows(); ++i) {
      multiply_row(std::span<const float>(along.row(i)), std::span<const float>(metric.shrink), along.row(i));
    }
    gemm(Transpose::kNo, Transpose::kNo, -1.0F, ConstMatrixView<float>(along), axes, 1.0F, block, threads);
  }
}

Metric inverse_of(const Metric& metric) {
  Metric inverse = metric;
  for (float& shrink : inverse.shrink) shrink = 1.0F - 1.0F / (1.0F - shrink);
  return inverse;
}

Metric metric_of(const Spectrum& spectrum, double shrinkage) {
  Metric metric;
  const std::size_t dimension = spectrum.axes.cols();
  if (spectrum.variances.empty() || shrinkage >= 1.0) return metric;
  const double mean = spectrum.total / static_cast<double>(dimension);
  if (!(mean > kLeastMeanVariance)) return metric;
  double left = spectrum.total;
  for (const double variance : spectrum.variances) left -= variance;
  const std::size_t others = dimension - spectrum.variances.size();
  const double rest = others == 0 ? 0.0 : std::max(0.0, left) / static_cast<double>(others);
  const double sphere = (1.0 - shrinkage) * rest + shrinkage * mean;
  metric.axes.assign(spectrum.axes.data(), spectrum.axes.data() + spectrum.axes.rows() * dimension);
  for (const double variance : spectrum.variances) {
    const double along = (1.0 - shrinkage) * variance + shrinkage * mean;
    metric.shrink.push_back(static_cast<float>(1.0 - std::sqrt(sphere / along)));
  }
  return metric;
}

Spectrum leading_directions(ConstMatrixView<float> rows, double freedom, std::size_t rank, int threads) {
  const std::size_t side = std::min(rows.rows(), rows.cols());
  if (side == 0) return {};
  const std::size_t wanted = std::min(rank, side);
  const std::size_t columns = std::min(wanted + kOversampling, side);
  // Iterates in the smaller of the two spaces, that of the examples or that of the dimensions.
  const bool by_examples = rows.rows() < rows.cols();
  const Transpose there = by_examples ? Transpose::kYes : Transpose::kNo;
  const Transpose back = by_examples ? Transpose::kNo : Transpose::kYes;
  Matrix<float> basis = random_columns(side, columns);
  orthonormalize(basis);
  for (int iteration = 0; iteration < (columns < side ? kSubspaceIterations : 0); ++iteration) {
    const Matrix<float> image = matrix_product(there, rows, Transpose::kNo, std::as_const(basis).view(), threads);
    basis = matrix_product(back, rows, Transpose::kNo, image.view(), threads);
    orthonormalize(basis);
  }
  Spectrum spectrum;
  if (by_examples) {
    const Matrix<float> image =
        matrix_product(Transpose::kYes, std::as_const(basis).view(), Transpose::kNo, rows, threads);
    const Matrix<float> scatter = matrix_product(Transpose::kNo, image.view(), Transpose::kYes, image.view(), threads);
    spectrum = diagonal(scatter.view(), image.view(), wanted, true, threads);
  } else {
    const Matrix<float> image =
        matrix_product(Transpose::kNo, rows, Transpose::kNo, std::as_const(basis).view(), threads);
    const Matrix<float> scatter = matrix_product(Transpose::kYes, image.view(), Transpose::kNo, image.view(), threads);
    Matrix<float> axes(columns, rows.cols());
    as_eigen(axes) = as_eigen(basis).transpose();
    spectrum = diagonal(scatter.view(), std::as_const(axes).view(), wanted, false, threads);
  }
  for (double& variance : spectrum.variances) variance /= freedom;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    spectrum.total += static_cast<double>(squared_length(rows.row(i))) / freedom;
  }
  return spectrum;
}

}  // namespace annulus
