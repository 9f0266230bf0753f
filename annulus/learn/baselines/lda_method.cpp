// Linear discriminant analysis with Ledoit-Wolf shrinkage as a method: scikit-learn's LinearDiscriminantAnalysis with
// the solver "lsqr" and shrinkage "auto".
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/base/parallel_progress.h"
#include "annulus/learn/baselines/gaussian_classes.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

// A dimension whose deviations within a class are this small beside their mean is constant there but for rounding.
constexpr double kConstant = 1e-13;      // of the squared mean
constexpr double kPairShrinkage = 0.5;   // where no class has three examples
constexpr double kLeastDiagonal = 1e-6;  // of the mean variance, for the solver in float

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The shrunk covariance of one class: (1 - shrinkage) deviations^T deviations / examples + diag(diagonal).
struct ShrunkCovariance {
  double shrinkage = 0.0;
  std::vector<double> diagonal;
};

// Ledoit and Wolf's estimate of the shrinkage that is best in the Frobenius norm, for centred rows.
double ledoit_wolf(const RowMajor& rows, double mean_variance) {
  const auto count = static_cast<double>(rows.rows());
  const auto dimension = static_cast<double>(rows.cols());
  if (rows.cols() == 1) return 0.0;  // as scikit-learn: one variance has nothing to be shrunk to
  RowMajor products =
      rows.rows() <= rows.cols() ? RowMajor(rows * rows.transpose()) : RowMajor(rows.transpose() * rows);
  const double squares = products.squaredNorm() / (count * count);  // of the covariance
  const double fourth = rows.rowwise().squaredNorm().array().square().sum() / count;
  const double distance = squares / dimension - mean_variance * mean_variance;
  const double error = std::clamp((fourth - squares) / (dimension * count), 0.0, std::max(distance, 0.0));
  return error == 0.0 ? 0.0 : error / distance;
}

// In units of the standard deviation of each dimension, as scikit-learn does: the target of the shrinkage is then the
// diagonal of variances rather than a sphere. A dimension that is constant has the unit 1.
ShrunkCovariance shrink(RowMajor rows, std::span<const double> mean) {
  const auto count = static_cast<double>(rows.rows());
  ShrunkCovariance result{0.0, std::vector<double>(mean.size(), 1.0)};
  std::size_t varying = 0;
  for (std::size_t j = 0; j < mean.size(); ++j) {
    auto column = rows.col(static_cast<Eigen::Index>(j));
    const double variance = column.squaredNorm() / count;
    if (variance <= kConstant * mean[j] * mean[j]) {
      column.setZero();
      continue;
    }
    column /= std::sqrt(variance);
    result.diagonal[j] = variance;
    ++varying;
  }
  const double mean_variance = static_cast<double>(varying) / static_cast<double>(mean.size());
  if (rows.rows() > 2) result.shrinkage = ledoit_wolf(rows, mean_variance);
  for (double& value : result.diagonal) value *= mean_variance;
  return result;
}

std::vector<std::vector<std::size_t>> rows_by_class(std::span<const std::int32_t> labels, std::size_t classes) {
  std::vector<std::vector<std::size_t>> rows(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) rows[static_cast<std::size_t>(labels[i])].push_back(i);
  return rows;
}

RowMajor gather_rows(ConstMatrixView<float> from, std::span<const std::size_t> rows) {
  RowMajor result(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(from.cols()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = from.row(rows[i]);
    for (std::size_t j = 0; j < row.size(); ++j) {
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = static_cast<double>(row[j]);
    }
  }
  return result;
}

// The mean of the classes' shrunk covariances, by their priors: scales the deviations to a factor of it, and returns
// the rest, which is diagonal.
std::vector<double> common_covariance(ClassMoments& moments, std::span<const std::int32_t> labels, int threads,
                                      const ProgressCallback& progress) {
  const std::size_t classes = moments.counts.size();
  const std::vector<std::vector<std::size_t>> rows = rows_by_class(labels, classes);
  std::vector<ShrunkCovariance> shrunk(classes);
  parallel_for_with_progress(threads, classes, "lda", progress, [&](std::size_t c) {
    shrunk[c] = shrink(gather_rows(moments.deviations.view(), rows[c]), moments.means.row(c));
  });
  // The formula finds nothing to shrink in two examples, so that scikit-learn inverts a covariance of less than full
  // rank, and guesses. Here two examples are shrunk half-way where no class has more.
  if (*std::max_element(moments.counts.begin(), moments.counts.end()) <= 2.0) {
    for (ShrunkCovariance& each : shrunk) each.shrinkage = kPairShrinkage;
  }
  const double total = moments.scatter_trace() / static_cast<double>(labels.size());
  std::vector<double> diagonal(moments.means.cols(), 0.0);
  for (std::size_t c = 0; c < classes; ++c) {
    const double prior = moments.counts[c] / static_cast<double>(labels.size());
    for (std::size_t j = 0; j < diagonal.size(); ++j) {
      diagonal[j] += prior * shrunk[c].shrinkage * shrunk[c].diagonal[j];
    }
    const auto scale = static_cast<float>(std::sqrt(prior * (1.0 - shrunk[c].shrinkage) / moments.counts[c]));
    for (const std::size_t i : rows[c]) {
      for (float& value : moments.deviations.row(i)) value *= scale;
    }
  }
  const double least = kLeastDiagonal * total / static_cast<double>(diagonal.size());
  for (double& value : diagonal) value = std::max(value, least);
  return diagonal;
}

}  // namespace

// With one example per class there is no covariance, and scikit-learn names the first class whatever it is asked; here
// the nearest prototype is named.
FittedMethod fit_lda_method(const LabelledExamples& support, const MethodContext& context,
                            const ProgressCallback& progress) {
  report(progress, {"lda", 0, support.classes, {}});
  ClassMoments moments = class_moments(unit_rows<float>(support.features.view()), support.labels, support.classes);
  std::vector<double> offsets(support.classes, 0.0);
  if (!moments.varies()) {
    return fitted_head(unit_covariance_head(moments.means.view(), offsets), true, context.threads());
  }
  std::transform(moments.counts.begin(), moments.counts.end(), offsets.begin(),
                 [&](double count) { return std::log(count / static_cast<double>(support.labels.size())); });
  const std::vector<double> diagonal = common_covariance(moments, support.labels, context.threads(), progress);
  return fitted_head(
      common_covariance_head(moments.means.view(), diagonal, std::move(moments.deviations), offsets, context.threads()),
      true, context.threads());
}

}  // namespace annulus
