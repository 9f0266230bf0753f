// FeCAM (Goswami et al., 2023) as a method: the nearest prototype by the Mahalanobis distance of covariances that are
// shrunk and normalised to correlations; features without negative values pass a square root first (Tukey's ladder).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/learn/baselines/base_classes.h"
#include "annulus/learn/baselines/gaussian_classes.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"
#include "annulus/learn/ensemble/cholesky.h"

namespace annulus {
namespace {

constexpr double kVarianceShrinkage = 1.0;    // gamma_1, of the mean variance, as published
constexpr double kCovarianceShrinkage = 1.0;  // gamma_2, of the mean covariance of two dimensions, as published
constexpr std::size_t kRowsAtOnce = 1024;

bool has_negative(ConstMatrixView<float> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (std::any_of(rows.row(i).begin(), rows.row(i).end(), [](float value) { return value < 0.0F; })) return true;
  }
  return false;
}

Matrix<float> prepare(ConstMatrixView<float> rows, bool root) {
  return root ? unit_rows<float>(root_rows(rows).view()) : unit_rows<float>(rows);
}

// S + gamma_1 v I + gamma_2 w (J - I), J all ones, v the mean of the diagonal of S and w that of the rest, divided by
// the roots of its own diagonal: factor^T factor + diag(diagonal). S is `scale` times the scatter of the rows. A
// negative w is taken as 0: it is never below -v / (dimension - 1).
struct Correlations {
  Matrix<float> factor;
  std::vector<double> diagonal;
};

Correlations shrunk_correlations(ConstMatrixView<float> deviations, double scale) {
  const std::size_t dimension = deviations.cols();
  std::vector<double> variance(dimension, 0.0);
  double of_sums = 0.0;  // the sum of all entries of S
  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < dimension; ++j) {
      const auto value = static_cast<double>(deviations(i, j));
      variance[j] += scale * value * value;
      sum += value;
    }
    of_sums += scale * sum * sum;
  }
  double trace = 0.0;
  for (const double value : variance) trace += value;
  const auto size = static_cast<double>(dimension);
  const double between = dimension == 1 ? 0.0 : std::max((of_sums - trace) / (size * (size - 1.0)), 0.0);
  const double common = kCovarianceShrinkage * between;
  const double ridge = kVarianceShrinkage * trace / size - common;

  Correlations result{Matrix<float>(deviations.rows() + 1, dimension), std::vector<double>(dimension)};
  for (std::size_t j = 0; j < dimension; ++j) {
    const double shrunk = variance[j] + ridge + common;
    result.diagonal[j] = ridge / shrunk;
    const double factor = std::sqrt(scale / shrunk);
    for (std::size_t i = 0; i < deviations.rows(); ++i) {
      result.factor(i, j) = static_cast<float>(factor * static_cast<double>(deviations(i, j)));
    }
    result.factor(deviations.rows(), j) = static_cast<float>(std::sqrt(common / shrunk));
  }
  return result;
}

// Distances by a matrix of correlations for each class, where classes have more examples than dimensions. Memory: less
// than that of the examples.
struct ClassDistances {
  Matrix<double> means;
  std::vector<CholeskyFactor> correlations;
};

ClassDistances class_distances(ClassMoments moments, std::span<const std::int32_t> labels, int threads) {
  ClassDistances result;
  for (std::size_t c = 0; c < moments.counts.size(); ++c) {
    Matrix<float> own(static_cast<std::size_t>(moments.counts[c]), moments.means.cols());
    std::size_t next = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (static_cast<std::size_t>(labels[i]) != c) continue;
      std::copy(moments.deviations.row(i).begin(), moments.deviations.row(i).end(), own.row(next++).begin());
    }
    const Correlations found = shrunk_correlations(own.view(), 1.0 / (moments.counts[c] - 1.0));
    Matrix<float> system(own.cols(), own.cols());
    lower_product(Transpose::kYes, 1.0F, found.factor.view(), 0.0F, system.view(), threads);
    for (std::size_t j = 0; j < own.cols(); ++j) system(j, j) += static_cast<float>(found.diagonal[j]);
    result.correlations.emplace_back(system.view(), threads);
  }
  result.means = std::move(moments.means);
  return result;
}

void score_classes(const ClassDistances& fitted, ConstMatrixView<float> rows, MatrixView<float> scores, int threads) {
  Matrix<float> deviations(rows.rows(), rows.cols());
  for (std::size_t c = 0; c < fitted.means.rows(); ++c) {
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      for (std::size_t j = 0; j < rows.cols(); ++j) {
        deviations(i, j) = static_cast<float>(static_cast<double>(rows(i, j)) - fitted.means(c, j));
      }
    }
    Matrix<float> solved = deviations.clone();
    fitted.correlations[c].solve_rows(solved.view(), threads);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      double distance = 0.0;
      for (std::size_t j = 0; j < rows.cols(); ++j) {
        distance += static_cast<double>(deviations(i, j)) * static_cast<double>(solved(i, j));
      }
      scores(i, c) = static_cast<float>(-distance);
    }
  }
}

FittedMethod classify_prepared(std::function<void(ConstMatrixView<float>, MatrixView<float>)> score, bool root,
                               std::size_t classes) {
  FittedMethod fitted;
  const auto in_blocks = [score = std::move(score), root](ConstMatrixView<float> asked, MatrixView<float> scores) {
    for (std::size_t first = 0; first < asked.rows(); first += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, asked.rows() - first);
      score(prepare(asked.rows_at(first, count), root).view(), scores.rows_at(first, count));
    }
  };
  classify_by_score(in_blocks, classes, fitted);
  return fitted;
}

Head<float> common_head(ClassMoments& moments, int threads) {
  const std::vector<double> offsets(moments.counts.size(), 0.0);
  if (!moments.varies()) return unit_covariance_head(moments.means.view(), offsets);
  Correlations found =
      shrunk_correlations(moments.deviations.view(), 1.0 / (static_cast<double>(moments.deviations.rows()) - 1.0));
  return common_covariance_head(moments.means.view(), found.diagonal, std::move(found.factor), offsets, threads);
}

}  // namespace

// A class with no more examples than dimensions has no covariance of its own that means much: then all classes share
// that of their deviations, as the paper's variant with a common covariance does, and the scores are linear. Without
// any, as with one example per class, it is the nearest prototype.
FittedMethod fit_fecam_method(const LabelledExamples& support, const MethodContext& context,
                              const ProgressCallback& progress) {
  report(progress, {"fecam", 0, 1, {}});
  const bool root = !has_negative(support.features.view());
  const int threads = context.threads();
  ClassMoments moments = class_moments(prepare(support.features.view(), root), support.labels, support.classes);
  const double fewest = *std::min_element(moments.counts.begin(), moments.counts.end());
  if (fewest > static_cast<double>(support.features.cols()) && moments.varies()) {
    const auto fitted =
        std::make_shared<const ClassDistances>(class_distances(std::move(moments), support.labels, threads));
    return classify_prepared(
        [fitted, threads](ConstMatrixView<float> rows, MatrixView<float> scores) {
          score_classes(*fitted, rows, scores, threads);
        },
        root, support.classes);
  }
  const auto head = std::make_shared<const Head<float>>(common_head(moments, threads));
  return classify_prepared([head, threads](ConstMatrixView<float> rows,
                                           MatrixView<float> scores) { compute_logits(*head, rows, scores, threads); },
                           root, support.classes);
}

}  // namespace annulus
