// RanPAC (McDonnell et al., 2023) as a method: ridge regression of the classes on random projections of the features
// that pass a rectifier, h = max(x W, 0) with W standard normal, without an intercept.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/gemm.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"
#include "annulus/learn/ensemble/cholesky.h"

namespace annulus {
namespace {

// Half of the published 10,000: the products of the projections, and those of 16,000 examples, then take 100 and 320
// MB.
constexpr std::size_t kProjections = 5000;
constexpr std::size_t kProjectedAtOnce = 4096;  // of a prediction, whose projections take 80 MB
// The published grid begins at 1e-8. Float resolves no penalty below a millionth of the trace, and none there differs
// from the next: the least eigenvalues of such products are larger.
constexpr int kFirstPower = 0;
constexpr int kLastPower = 8;
constexpr double kResolved = 1e-6;  // of the trace

Matrix<float> random_directions(std::size_t dimension, const RandomStream& stream, int threads) {
  Matrix<float> directions(kProjections, dimension);
  parallel_for(threads, kProjections, [&](std::size_t p) { fill_gaussian(stream, p * dimension, directions.row(p)); });
  return directions;
}

Matrix<float> project(ConstMatrixView<float> unit, ConstMatrixView<float> directions, int threads) {
  Matrix<float> result(unit.rows(), directions.rows());
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, unit, directions, 0.0F, result.view(), threads);
  std::transform(result.data(), result.data() + result.rows() * result.cols(), result.data(),
                 [](float value) { return std::max(value, 0.0F); });
  return result;
}

Matrix<float> one_hot(std::span<const std::int32_t> labels, std::size_t classes) {
  Matrix<float> result(classes, labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) result(static_cast<std::size_t>(labels[i]), i) = 1.0F;
  return result;
}

// Ridge regression of the classes x examples targets on projected rows, for one penalty after the other. Of (h^T h +
// penalty)^-1 h^T y = h^T (h h^T + penalty)^-1 y the smaller system is solved.
class ProjectedRidge {
 public:
  ProjectedRidge(ConstMatrixView<float> rows, Matrix<float> targets, int threads)
      : rows_(rows), dual_(rows.rows() <= rows.cols()), threads_(threads) {
    const std::size_t order = std::min(rows.rows(), rows.cols());
    products_ = Matrix<float>(order, order);
    lower_product(dual_ ? Transpose::kNo : Transpose::kYes, 1.0F, rows, 0.0F, products_.view(), threads);
    for (std::size_t i = 0; i < order; ++i) diagonal_.push_back(products_(i, i));
    if (dual_) {
      right_ = std::move(targets);
      return;
    }
    right_ = Matrix<float>(targets.rows(), order);
    gemm(Transpose::kNo, Transpose::kNo, 1.0F, targets.view(), rows, 0.0F, right_.view(), threads);
  }

  double trace() const {
    double sum = 0.0;
    for (const float value : diagonal_) sum += static_cast<double>(value);
    return sum;
  }

  Matrix<float> weights(double penalty) {  // classes x projections
    for (std::size_t i = 0; i < diagonal_.size(); ++i) products_(i, i) = diagonal_[i] + static_cast<float>(penalty);
    Matrix<float> solved = right_.clone();
    CholeskyFactor(products_.view(), threads_).solve_rows(solved.view(), threads_);
    if (!dual_) return solved;
    Matrix<float> result(solved.rows(), rows_.cols());
    gemm(Transpose::kNo, Transpose::kNo, 1.0F, solved.view(), rows_, 0.0F, result.view(), threads_);
    return result;
  }

 private:
  ConstMatrixView<float> rows_;
  bool dual_;
  int threads_;
  Matrix<float> products_;  // lower half, with the last penalty on its diagonal
  std::vector<float> diagonal_;
  Matrix<float> right_;
};

double squared_error(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, const Matrix<float>& weights,
                     int threads) {
  Matrix<float> scores(rows.rows(), weights.rows());
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows, weights.view(), 0.0F, scores.view(), threads);
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    scores(i, static_cast<std::size_t>(labels[i])) -= 1.0F;
    for (const float value : scores.row(i)) sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

// The order of the examples with those that choose the penalty last: the first fifth of each class, at least one where
// it has two.
struct HeldOutOrder {
  std::vector<std::size_t> rows;
  std::size_t kept = 0;
};

HeldOutOrder hold_out(std::span<const std::int32_t> labels, std::size_t classes) {
  const std::vector<std::size_t> counts = class_counts(labels, classes);
  std::vector<std::size_t> seen(classes, 0);
  HeldOutOrder order;
  std::vector<std::size_t> held_out;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto own = static_cast<std::size_t>(labels[i]);
    const std::size_t wanted = counts[own] < 2 ? 0 : std::max(counts[own] / 5, std::size_t{1});
    (seen[own]++ < wanted ? held_out : order.rows).push_back(i);
  }
  order.kept = order.rows.size();
  order.rows.insert(order.rows.end(), held_out.begin(), held_out.end());
  return order;
}

// The power of ten with the least squared error on the held-out rows, which are the last; without any, the mean squared
// length of a row.
double choose_penalty(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t kept,
                      std::size_t classes, int threads, const ProgressCallback& progress) {
  const std::size_t held_out = rows.rows() - kept;
  if (held_out == 0) {
    double squares = 0.0;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      for (const float value : rows.row(i)) squares += static_cast<double>(value) * static_cast<double>(value);
    }
    return squares / static_cast<double>(rows.rows());
  }
  ProjectedRidge ridge(rows.rows_at(0, kept), one_hot(labels.first(kept), classes), threads);
  double best = 1.0;
  double least = std::numeric_limits<double>::infinity();
  for (int power = kFirstPower; power <= kLastPower; ++power) {
    report(progress, {"ranpac", static_cast<std::size_t>(power), static_cast<std::size_t>(kLastPower + 1), {}});
    const double penalty = std::pow(10.0, power);
    if (penalty < kResolved * ridge.trace() && power < kLastPower) continue;
    const double error =
        squared_error(rows.rows_at(kept, held_out), labels.subspan(kept), ridge.weights(penalty), threads);
    if (error < least) {
      least = error;
      best = penalty;
    }
  }
  return best;
}

struct FittedRanpac {
  Matrix<float> directions;
  Matrix<float> weights;
};

void score_projections(const FittedRanpac& fitted, ConstMatrixView<float> asked, MatrixView<float> scores,
                       int threads) {
  for (std::size_t first = 0; first < asked.rows(); first += kProjectedAtOnce) {
    const std::size_t count = std::min(kProjectedAtOnce, asked.rows() - first);
    const Matrix<float> unit = unit_rows<float>(asked.rows_at(first, count));
    const Matrix<float> projected = project(unit.view(), fitted.directions.view(), threads);
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, projected.view(), fitted.weights.view(), 0.0F,
         scores.rows_at(first, count), threads);
  }
}

}  // namespace

FittedMethod fit_ranpac_method(const LabelledExamples& support, const MethodContext& context,
                               const ProgressCallback& progress) {
  report(progress, {"ranpac", 0, 1, {}});
  const TrainOptions& options = context.recipe.final_training;
  const int threads = context.threads();
  auto fitted = std::make_shared<FittedRanpac>();
  fitted->directions =
      random_directions(support.features.cols(), {options.seed, RandomUse::kProjection, options.task}, threads);
  const HeldOutOrder order = hold_out(support.labels, support.classes);
  const Matrix<float> unit = unit_rows<float>(support.features.view());
  Matrix<float> ordered(unit.rows(), unit.cols());
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < order.rows.size(); ++i) {
    std::copy(unit.row(order.rows[i]).begin(), unit.row(order.rows[i]).end(), ordered.row(i).begin());
    labels.push_back(support.labels[order.rows[i]]);
  }
  const Matrix<float> rows = project(ordered.view(), fitted->directions.view(), threads);
  const double penalty = choose_penalty(rows.view(), labels, order.kept, support.classes, threads, progress);
  ProjectedRidge ridge(rows.view(), one_hot(labels, support.classes), threads);
  fitted->weights = ridge.weights(std::max(penalty, kResolved * ridge.trace()));

  FittedMethod result;
  const auto score = [fitted = std::shared_ptr<const FittedRanpac>(std::move(fitted)), threads](
                         ConstMatrixView<float> asked, MatrixView<float> scores) {
    score_projections(*fitted, asked, scores, threads);
  };
  classify_by_score(score, support.classes, result);
  return result;
}

}  // namespace annulus
