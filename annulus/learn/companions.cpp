// Closed forms by Cholesky factors, and their sum with a trained head.
#include "annulus/learn/companions.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

using ColumnMajor = Eigen::MatrixXd;

constexpr std::size_t kColumnsPerTask = 64;    // right-hand sides that a task solves for
constexpr std::size_t kMostSpreadRows = 2048;  // rows that a spread is measured on
constexpr double kLeastPenalty = 1e-6;         // keeps rows that are all the same from an empty system
constexpr float kLeastLength = 1e-6F;          // of a class mean less the mean of all: shorter ones point nowhere

void subtract(std::span<const float> what, std::span<float> row) {
  for (std::size_t j = 0; j < row.size(); ++j) row[j] -= what[j];
}

double weight_of(const TrainingRows<float>& rows, std::size_t row) {
  return rows.weights.empty() ? 1.0 : static_cast<double>(rows.weights[row]);
}

// The weights of the rows of each class: their number where there are none.
std::vector<double> class_weights(const TrainingRows<float>& rows) {
  std::vector<double> sums(rows.classes, 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) sums[static_cast<std::size_t>(rows.labels[i])] += weight_of(rows, i);
  return sums;
}

Matrix<float> centred(const TrainingRows<float>& training) {
  const ConstMatrixView<float> rows = training.features.view();
  const std::vector<float> mean = mean_row(rows, training.weights);
  Matrix<float> result(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(rows.row(i).begin(), rows.row(i).end(), result.row(i).begin());
    subtract(mean, result.row(i));
  }
  return result;
}

Eigen::LLT<ColumnMajor> penalised_factor(ConstMatrixView<float> gram, double penalty) {
  ColumnMajor system(static_cast<Eigen::Index>(gram.rows()), static_cast<Eigen::Index>(gram.cols()));
  for (std::size_t i = 0; i < gram.rows(); ++i) {
    for (std::size_t j = 0; j < gram.cols(); ++j) {
      system(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = static_cast<double>(gram(i, j));
    }
    system(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)) += penalty;
  }
  Eigen::LLT<ColumnMajor> factor(system);
  if (factor.info() != Eigen::Success) {
    fail(ErrorKind::kInternal, "expected a ridge system with a Cholesky factor, found none at penalty {}", penalty);
  }
  return factor;
}

// Solves for every row of `targets` in place, blocks of rows at a time.
void solve_rows(const Eigen::LLT<ColumnMajor>& factor, MatrixView<float> targets, int threads) {
  const std::size_t tasks = (targets.rows() + kColumnsPerTask - 1) / kColumnsPerTask;
  parallel_for(threads, tasks, [&](std::size_t task) {
    const std::size_t first = task * kColumnsPerTask;
    const std::size_t count = std::min(kColumnsPerTask, targets.rows() - first);
    ColumnMajor block(static_cast<Eigen::Index>(targets.cols()), static_cast<Eigen::Index>(count));
    for (std::size_t c = 0; c < count; ++c) {
      const auto row = targets.row(first + c);
      for (std::size_t j = 0; j < row.size(); ++j) {
        block(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(c)) = static_cast<double>(row[j]);
      }
    }
    factor.solveInPlace(block);
    for (std::size_t c = 0; c < count; ++c) {
      const auto row = targets.row(first + c);
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = static_cast<float>(block(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(c)));
      }
    }
  });
}

// Weights w_c that make logits w_c . x (+ bias) of rows of length 1.
Matrix<float> logit_weights(const Head<float>& head) {
  Matrix<float> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  if (head.kind == HeadKind::kCosine) {
    const auto scale = static_cast<float>(kCosineScale / (1.0 + kNormGuard));
    for (std::size_t c = 0; c < weights.rows(); ++c) scale_row(weights.row(c), scale);
  }
  return weights;
}

// The standard deviation of the scores of `rows`, which are centred, over rows and classes; what is the same for all
// classes counts for nothing.
double spread(ConstMatrixView<float> weights, const TrainingRows<float>& training, ConstMatrixView<float> rows,
              int threads) {
  const std::size_t count = std::min(rows.rows(), kMostSpreadRows);
  Matrix<float> chosen(count, rows.cols());
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = rows.row(i * rows.rows() / count);
    std::copy(row.begin(), row.end(), chosen.row(i).begin());
  }
  Matrix<float> scores(count, weights.rows());
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, std::as_const(chosen).view(), weights, 0.0F, scores.view(), threads);
  double sum = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = weight_of(training, i * rows.rows() / count);
    double row_sum = 0.0;
    double squares = 0.0;
    for (const float score : scores.row(i)) {
      row_sum += static_cast<double>(score);
      squares += static_cast<double>(score) * static_cast<double>(score);
    }
    sum += weight * (squares - row_sum * row_sum / static_cast<double>(weights.rows()));
    all += weight;
  }
  return std::sqrt(std::max(sum, 0.0) / (all * static_cast<double>(weights.rows())));
}

// head += factor * weights on rows less `mean`, which may be empty.
void add_scores(ConstMatrixView<float> weights, std::span<const float> mean, double factor, Head<float>& head) {
  for (std::size_t c = 0; c < head.classes(); ++c) {
    const auto from = weights.row(c);
    const auto to = head.direction.row(c);
    double at_mean = 0.0;
    for (std::size_t j = 0; j < to.size(); ++j) to[j] += static_cast<float>(factor) * from[j];
    for (std::size_t j = 0; j < mean.size(); ++j)
      at_mean += static_cast<double>(from[j]) * static_cast<double>(mean[j]);
    head.bias[c] -= static_cast<float>(factor * at_mean);
  }
}

}  // namespace

std::vector<float> mean_row(ConstMatrixView<float> rows, std::span<const float> weights) {
  std::vector<double> sums(rows.cols(), 0.0);
  double count = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i]);
    const auto row = rows.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += weight * static_cast<double>(row[j]);
    count += weight;
  }
  std::vector<float> mean;
  mean.reserve(sums.size());
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / count));
  return mean;
}

Matrix<float> ridge_weights(const TrainingRows<float>& rows, double penalty, int threads) {
  // A row counts by its weight when it and its target are scaled by the root of that.
  Matrix<float> x = centred(rows);
  const auto root = [&](std::size_t i) { return static_cast<float>(std::sqrt(weight_of(rows, i))); };
  if (!rows.weights.empty()) {
    for (std::size_t i = 0; i < rows.rows(); ++i) scale_row(x.row(i), root(i));
  }
  const bool by_rows = rows.rows() <= rows.dimension();
  Matrix<float> gram(by_rows ? rows.rows() : rows.dimension(), by_rows ? rows.rows() : rows.dimension());
  gemm(by_rows ? Transpose::kNo : Transpose::kYes, by_rows ? Transpose::kYes : Transpose::kNo, 1.0F,
       std::as_const(x).view(), std::as_const(x).view(), 0.0F, gram.view(), threads);
  // The diagonal of either product sums to the squared lengths of all rows.
  double lengths = 0.0;
  for (std::size_t i = 0; i < gram.rows(); ++i) lengths += static_cast<double>(gram(i, i));
  const double scale = lengths / static_cast<double>(rows.rows());
  const Eigen::LLT<ColumnMajor> factor = penalised_factor(gram.view(), penalty * scale + kLeastPenalty);
  Matrix<float> weights(rows.classes, rows.dimension());
  if (!by_rows) {
    // Targets are 1 for a row's class less the class's share; rows are centred, so that the shares drop out.
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      if (!rows.weights.empty()) scale_row(x.row(i), root(i));
      add_row(std::as_const(x).row(i), weights.row(static_cast<std::size_t>(rows.labels[i])));
    }
    solve_rows(factor, weights.view(), threads);
    return weights;
  }
  const std::vector<double> counts = class_weights(rows);
  Matrix<float> targets(rows.classes, rows.rows());
  for (std::size_t c = 0; c < rows.classes; ++c) {
    const double share = counts[c] / static_cast<double>(rows.rows());
    for (float& target : targets.row(c)) target = static_cast<float>(-share);
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    targets(static_cast<std::size_t>(rows.labels[i]), i) += 1.0F;
    if (rows.weights.empty()) continue;
    for (std::size_t c = 0; c < rows.classes; ++c) targets(c, i) *= root(i);
  }
  solve_rows(factor, targets.view(), threads);
  gemm(Transpose::kNo, Transpose::kNo, 1.0F, std::as_const(targets).view(), std::as_const(x).view(), 0.0F,
       weights.view(), threads);
  return weights;
}

Matrix<float> class_mean_weights(const TrainingRows<float>& rows, std::span<const float> centre) {
  const std::vector<double> counts = class_weights(rows);
  Matrix<float> weights(rows.classes, rows.dimension());
  std::vector<float> weighted(rows.weights.empty() ? 0 : rows.dimension());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::span<const float> row = rows.features.row(i);
    if (!rows.weights.empty()) {
      std::copy(row.begin(), row.end(), weighted.begin());
      scale_row(std::span<float>(weighted), rows.weights[i]);
      row = weighted;
    }
    add_row(row, weights.row(static_cast<std::size_t>(rows.labels[i])));
  }
  for (std::size_t c = 0; c < rows.classes; ++c) {
    scale_row(weights.row(c), 1.0F / static_cast<float>(counts[c]));
    if (!centre.empty()) subtract(centre, weights.row(c));
    const float length = std::sqrt(squared_length(std::as_const(weights).row(c)));
    if (length > kLeastLength) scale_row(weights.row(c), 1.0F / length);
  }
  return weights;
}

Head<float> with_companions(const Head<float>& trained, const TrainingRows<float>& rows, const Companions& companions,
                            int threads) {
  const std::vector<float> mean = mean_row(rows.features.view(), rows.weights);
  const Matrix<float> x = centred(rows);
  const auto row_count = static_cast<double>(rows.rows());
  const double mean_weight = std::pow(companions.mean_rows / row_count, 2.0);
  const double share = 1.0 / (1.0 + companions.ridge_weight + mean_weight);

  Head<float> head{HeadKind::kLinear, logit_weights(trained), {}, std::vector<float>(trained.classes(), 0.0F)};
  if (trained.kind == HeadKind::kLinear) head.bias = trained.bias;
  const double trained_spread = spread(head.direction.view(), rows, x.view(), threads);
  for (std::size_t c = 0; c < head.classes(); ++c) scale_row(head.direction.row(c), static_cast<float>(share));
  scale_row(std::span<float>(head.bias), static_cast<float>(share));

  const auto add = [&](const Matrix<float>& weights, std::span<const float> centre, double weight) {
    const double own = spread(weights.view(), rows, x.view(), threads);
    if (own > 0.0) add_scores(weights.view(), centre, share * weight * trained_spread / own, head);
  };
  add(ridge_weights(rows, companions.ridge_penalty, threads), mean, companions.ridge_weight);
  add(class_mean_weights(rows, mean), mean, 0.5 * mean_weight);
  add(class_mean_weights(rows, {}), {}, 0.5 * mean_weight);
  return head;
}

}  // namespace annulus
