// Computes closed-form heads, and their sum with a trained head.
#include "annulus/learn/ensemble/ensemble_heads.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/ensemble/ensemble_sum.h"
#include "annulus/learn/ensemble/ridge.h"
#include "annulus/learn/ensemble/weighted_rows.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kMostSpreadRows = 2048;              // examples that a spread is measured on in a fit
constexpr std::size_t kMostScores = std::size_t{1} << 26;  // in memory at a time
constexpr double kLeastMeanWeight = 1e-4;                  // prototypes with a smaller weight are left out
constexpr float kLeastLength = 1e-6F;  // of a prototype minus the mean of all: shorter ones are rounding errors

// Weights w_c for logits w_c . x (+ bias) of rows of unit length.
Matrix<float> logit_weights(const Head<float>& head) {
  Matrix<float> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  if (head.kind == HeadKind::kCosine) {
    const auto scale = static_cast<float>(kCosineScale / (1.0 + kNormGuard));
    for (std::size_t c = 0; c < weights.rows(); ++c) scale_row(weights.row(c), scale);
  }
  return weights;
}

// Sums of the scores of `rows` over classes, and of their squares: both for each row in alternation.
std::vector<double> score_sums(ConstMatrixView<float> weights, ConstMatrixView<float> rows, int threads) {
  // In blocks, if the scores of all rows would take much memory.
  const std::size_t piece = std::min(rows.rows(), std::max<std::size_t>(64, kMostScores / weights.rows()));
  Matrix<float> scores(piece, weights.rows());
  std::vector<double> sums(2 * rows.rows(), 0.0);
  for (std::size_t first = 0; first < rows.rows(); first += piece) {
    const std::size_t count = std::min(piece, rows.rows() - first);
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows.rows_at(first, count), weights, 0.0F,
         scores.view().rows_at(0, count), threads);
    for (std::size_t i = 0; i < count; ++i) {
      double* row = &sums[2 * (first + i)];
      for (const float score : scores.row(i)) {
        row[0] += static_cast<double>(score);
        row[1] += static_cast<double>(score) * static_cast<double>(score);
      }
    }
  }
  return sums;
}

// Centred rows for measuring spreads, evenly spaced, and their weights.
struct SpreadSample {
  Matrix<float> rows;
  std::vector<double> weights;
};

SpreadSample spread_sample(const TrainingExamples<float>& rows, std::span<const float> mean, std::size_t most) {
  const std::size_t count = std::min(rows.rows(), most);
  SpreadSample sample{Matrix<float>(count, rows.dimension()), {}};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(i * rows.rows() / count);
  fetch_rows(rows.partition, rows.features.view(), std::span<const std::size_t>(places), sample.rows.view());
  for (std::size_t i = 0; i < count; ++i) {
    subtract_row(mean, sample.rows.row(i));
    sample.weights.push_back(weight_of(rows, places[i]));
  }
  return sample;
}

// The standard deviation of the scores over rows and classes; offsets that all classes share are ignored.
double spread(ConstMatrixView<float> weights, const SpreadSample& sample, std::size_t all_classes, int threads,
              const ParallelLayout* layout) {
  std::vector<double> sums = score_sums(weights, sample.rows.view(), threads);
  layout->same_slice().sum(std::span<double>(sums));
  const auto classes = static_cast<double>(all_classes);
  double sum = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < sample.weights.size(); ++i) {
    sum += sample.weights[i] * (sums[2 * i + 1] - sums[2 * i] * sums[2 * i] / classes);
    all += sample.weights[i];
  }
  return std::sqrt(std::max(sum, 0.0) / (all * classes));
}

// head += factor * weights on rows minus `mean`, which may be empty.
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

Matrix<float> prototype_weights(const TrainingExamples<float>& rows, std::span<const float> centre,
                                const ParallelLayout* layout) {
  const Slice block = layout->class_block(rows.classes);
  const std::vector<double> counts = class_weights(rows);
  Matrix<float> weights(block.count, rows.dimension());
  std::vector<float> weighted(rows.weights.empty() ? 0 : rows.dimension());
  for_each_row(rows.partition, rows.features.view(), rows.rows(), [&](std::size_t i, std::span<const float> row) {
    const std::size_t place = place_of(rows, i, block);
    if (place >= block.count) return;
    if (!rows.weights.empty()) {
      std::copy(row.begin(), row.end(), weighted.begin());
      scale_row(std::span<float>(weighted), rows.weights[i]);
      row = weighted;
    }
    add_row(row, weights.row(place));
  });
  for (std::size_t c = 0; c < block.count; ++c) {
    scale_row(weights.row(c), 1.0F / static_cast<float>(counts[block.first + c]));
    if (!centre.empty()) subtract_row(centre, weights.row(c));
    const float length = std::sqrt(squared_length(std::as_const(weights).row(c)));
    if (length > kLeastLength) scale_row(weights.row(c), 1.0F / length);
  }
  return weights;
}

Head<float> with_ensemble_heads(const Head<float>& trained, const TrainingExamples<float>& rows,
                                const EnsembleHeads& ensemble, int threads, const ParallelLayout* layout) {
  const Matrix<float> ridge = ensemble.ridge_weight > 0.0
                                  ? ridge_weights(rows, {.relative = ensemble.ridge_penalty}, threads, layout)
                                  : Matrix<float>();
  return sum_with_ridge(trained, rows, ensemble, ridge, kMostSpreadRows, threads, layout);
}

Head<float> sum_with_ridge(const Head<float>& trained, const TrainingExamples<float>& rows,
                           const EnsembleHeads& ensemble, const Matrix<float>& ridge, std::size_t spread_rows,
                           int threads, const ParallelLayout* layout) {
  const std::vector<float> mean = mean_row(rows);
  const SpreadSample sample = spread_sample(rows, mean, spread_rows);
  const auto row_count = static_cast<double>(rows.rows());
  const double mean_weight =
      ensemble.any() ? ensemble.prototype_weight + std::pow(ensemble.prototype_shots / row_count, 2.0) : 0.0;
  const double part = 1.0 / (1.0 + ensemble.ridge_weight + mean_weight);

  Head<float> head{HeadKind::kLinear, logit_weights(trained), {}, std::vector<float>(trained.classes(), 0.0F)};
  if (trained.kind == HeadKind::kLinear) head.bias = trained.bias;
  const double trained_spread = spread(head.direction.view(), sample, rows.classes, threads, layout);
  for (std::size_t c = 0; c < head.classes(); ++c) scale_row(head.direction.row(c), static_cast<float>(part));
  scale_row(std::span<float>(head.bias), static_cast<float>(part));

  const auto add = [&](const Matrix<float>& weights, std::span<const float> centre, double weight) {
    const double own = spread(weights.view(), sample, rows.classes, threads, layout);
    if (own > 0.0) add_scores(weights.view(), centre, part * weight * trained_spread / own, head);
  };
  if (ensemble.ridge_weight > 0.0) add(ridge, mean, ensemble.ridge_weight);
  if (mean_weight < kLeastMeanWeight) return head;
  add(prototype_weights(rows, mean, layout), mean, 0.5 * mean_weight);
  add(prototype_weights(rows, {}, layout), {}, 0.5 * mean_weight);
  return head;
}

}  // namespace annulus
