// Class means and deviations, and the weights that a common covariance gives.
#include "annulus/learn/baselines/gaussian_classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "annulus/kernels/gemm.h"
#include "annulus/learn/ensemble/cholesky.h"

namespace annulus {
namespace {

constexpr double kRounding = 1e-12;  // squared deviations of unit rows that rounding in float explains

Head<float> head_from(ConstMatrixView<double> means, ConstMatrixView<double> weights, std::span<const double> offsets) {
  Head<float> head{HeadKind::kLinear, Matrix<float>(means.rows(), means.cols()), {}, {}};
  for (std::size_t c = 0; c < means.rows(); ++c) {
    const auto row = weights.row(c);
    std::transform(row.begin(), row.end(), head.direction.row(c).begin(),
                   [](double value) { return static_cast<float>(value); });
    const double squares = std::inner_product(row.begin(), row.end(), means.row(c).begin(), 0.0);
    head.bias.push_back(static_cast<float>(offsets[c] - squares / 2.0));
  }
  return head;
}

void add_to_diagonal(MatrixView<float> system, float value) {
  for (std::size_t i = 0; i < system.rows(); ++i) system(i, i) += value;
}

// Replaces rows b by (1 + f^T f)^-1 b. With few rows in f it is b - f^T (1 + f f^T)^-1 f b.
void solve(ConstMatrixView<float> f, MatrixView<float> rows, int threads) {
  if (f.rows() >= f.cols()) {
    Matrix<float> system(f.cols(), f.cols());
    lower_product(Transpose::kYes, 1.0F, f, 0.0F, system.view(), threads);
    add_to_diagonal(system.view(), 1.0F);
    CholeskyFactor(system.view(), threads).solve_rows(rows, threads);
    return;
  }
  Matrix<float> system(f.rows(), f.rows());
  lower_product(Transpose::kNo, 1.0F, f, 0.0F, system.view(), threads);
  add_to_diagonal(system.view(), 1.0F);
  Matrix<float> products(rows.rows(), f.rows());
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows, f, 0.0F, products.view(), threads);
  CholeskyFactor(system.view(), threads).solve_rows(products.view(), threads);
  gemm(Transpose::kNo, Transpose::kNo, -1.0F, products.view(), f, 1.0F, rows, threads);
}

}  // namespace

double ClassMoments::scatter_trace() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    for (const float value : deviations.row(i)) sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

bool ClassMoments::varies() const { return scatter_trace() > kRounding * static_cast<double>(deviations.rows()); }

ClassMoments class_moments(Matrix<float> rows, std::span<const std::int32_t> labels, std::size_t classes) {
  ClassMoments moments{Matrix<double>(classes, rows.cols()), std::vector<double>(classes, 0.0), std::move(rows)};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const auto row = moments.deviations.row(i);
    const auto mean = moments.means.row(label);
    for (std::size_t j = 0; j < row.size(); ++j) mean[j] += static_cast<double>(row[j]);
    moments.counts[label] += 1.0;
  }
  for (std::size_t c = 0; c < classes; ++c) {
    for (double& value : moments.means.row(c)) value /= moments.counts[c];
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = moments.deviations.row(i);
    const auto mean = moments.means.row(static_cast<std::size_t>(labels[i]));
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<float>(static_cast<double>(row[j]) - mean[j]);
  }
  return moments;
}

// In units of the diagonal the system is 1 + f^T f, whose condition number is the least that float has to bear.
Head<float> common_covariance_head(ConstMatrixView<double> means, std::span<const double> diagonal,
                                   Matrix<float> factor, std::span<const double> offsets, int threads) {
  std::vector<double> scale;
  for (const double value : diagonal) scale.push_back(1.0 / std::sqrt(value));
  for (std::size_t i = 0; i < factor.rows(); ++i) {
    for (std::size_t j = 0; j < scale.size(); ++j) {
      factor(i, j) = static_cast<float>(scale[j] * static_cast<double>(factor(i, j)));
    }
  }
  Matrix<float> solved(means.rows(), means.cols());
  for (std::size_t c = 0; c < means.rows(); ++c) {
    for (std::size_t j = 0; j < scale.size(); ++j) solved(c, j) = static_cast<float>(scale[j] * means(c, j));
  }
  solve(factor.view(), solved.view(), threads);
  Matrix<double> weights(means.rows(), means.cols());
  for (std::size_t c = 0; c < means.rows(); ++c) {
    for (std::size_t j = 0; j < scale.size(); ++j) weights(c, j) = scale[j] * static_cast<double>(solved(c, j));
  }
  return head_from(means, weights.view(), offsets);
}

Head<float> unit_covariance_head(ConstMatrixView<double> means, std::span<const double> offsets) {
  return head_from(means, means, offsets);
}

}  // namespace annulus
