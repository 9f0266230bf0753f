// A sample of deviations and its principal axes.
#include "annulus/learn/class_spread.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "annulus/kernels/gemm.h"
#include "annulus/kernels/narrow_gemm.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

constexpr double kLeastVariance = 1e-6;  // of an axis, in units of the largest

// The rows that are looked at, less the means of their classes.
Matrix<float> deviations_within(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                                std::span<const std::size_t> left_out) {
  std::unordered_map<std::int32_t, std::size_t> counts;
  std::vector<std::size_t> looked_at;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::binary_search(left_out.begin(), left_out.end(), i)) continue;
    looked_at.push_back(i);
    ++counts[labels[i]];
  }
  std::erase_if(looked_at, [&](std::size_t row) { return counts[labels[row]] < 2; });
  const std::size_t size = std::min(kSpreadRows, looked_at.size());
  std::vector<std::size_t> sample;
  std::unordered_map<std::int32_t, std::vector<float>> sums;
  for (std::size_t i = 0; i < size; ++i) {
    sample.push_back(looked_at[i * looked_at.size() / size]);
    sums[labels[sample.back()]].resize(rows.cols(), 0.0F);
  }
  for (const std::size_t row : looked_at) {
    if (const auto sum = sums.find(labels[row]); sum != sums.end()) {
      add_row(rows.row(row), std::span<float>(sum->second));
    }
  }
  Matrix<float> deviations(size, rows.cols());
  for (std::size_t i = 0; i < size; ++i) {
    const std::int32_t label = labels[sample[i]];
    const float part = 1.0F / static_cast<float>(counts[label]);
    const std::vector<float>& sum = sums[label];
    const auto row = rows.row(sample[i]);
    const auto out = deviations.row(i);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = row[j] - part * sum[j];
  }
  return deviations;
}

}  // namespace

Matrix<float> class_spread_axes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, int threads,
                                std::span<const std::size_t> left_out) {
  const Matrix<float> deviations = deviations_within(rows, labels, left_out);
  if (deviations.rows() == 0) return {};
  Matrix<float> products(deviations.rows(), deviations.rows());
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, deviations.view(), deviations.view(), 0.0F, products.view(), threads);
  const auto size = static_cast<Eigen::Index>(deviations.rows());
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> gram(products.data(),
                                                                                                     size, size);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram.cast<double>());
  const Eigen::VectorXd& scatters = solver.eigenvalues();  // in ascending order
  const double largest = scatters(size - 1);
  const double mean = scatters.sum() / static_cast<double>(rows.cols());  // over all directions
  if (!(largest > 0.0) || !(mean > 0.0)) return {};
  std::size_t count = 0;
  while (count < std::min(kSpreadAxes, deviations.rows()) &&
         scatters(size - 1 - static_cast<Eigen::Index>(count)) > kLeastVariance * largest) {
    ++count;
  }
  // A sum of deviations by an eigenvector has the eigenvalue for its squared length.
  Matrix<float> shares(count, deviations.rows());
  for (std::size_t axis = 0; axis < count; ++axis) {
    const Eigen::Index place = size - 1 - static_cast<Eigen::Index>(axis);
    const double factor = 1.0 / std::sqrt(scatters(place) + mean);
    for (Eigen::Index i = 0; i < size; ++i) {
      shares(axis, static_cast<std::size_t>(i)) = static_cast<float>(factor * solver.eigenvectors()(i, place));
    }
  }
  Matrix<float> axes(count, rows.cols());
  gemm(Transpose::kNo, Transpose::kNo, 1.0F, std::as_const(shares).view(), deviations.view(), 0.0F, axes.view(),
       threads);
  return axes;
}

AxisNumbers along_axes(ConstMatrixView<float> axes, std::span<const float> row) {
  AxisNumbers numbers{};
  if (!axes.empty()) {
    narrow_products(1.0F, ConstMatrixView<float>(row.data(), 1, row.size()), axes,
                    MatrixView<float>(numbers.data(), 1, axes.rows()));
  }
  return numbers;
}

}  // namespace annulus
