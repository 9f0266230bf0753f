// Closed forms, and their sum with a trained head.
#include "annulus/learn/companions.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/cholesky.h"
#include "annulus/learn/companion_sum.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kCentredPerTask = 128;
constexpr std::size_t kMostSpreadRows = 2048;              // rows that a spread is measured on in a fit
constexpr std::size_t kMostScores = std::size_t{1} << 26;  // that stand in memory at a time
constexpr std::size_t kMostCentredRows = 8192;             // that stand in memory at a time
constexpr double kLeastMeanWeight = 1e-4;                  // class means that weigh less are left out
constexpr double kLeastPenalty = 1e-6;                     // keeps rows that are all the same from an empty system
constexpr float kLeastLength = 1e-6F;  // of a class mean less the mean of all: shorter ones point nowhere

void subtract(std::span<const float> what, std::span<float> row) {
  for (std::size_t j = 0; j < row.size(); ++j) row[j] -= what[j];
}

double weight_of(const TrainingRows<float>& rows, std::size_t row) {
  return rows.weights.empty() ? 1.0 : static_cast<double>(rows.weights[row]);
}

// Where the class of a row stands in a block; outside [0, block.count) where it does not.
std::size_t place_of(const TrainingRows<float>& rows, std::size_t row, Slice block) {
  return static_cast<std::size_t>(rows.labels[row]) - block.first;
}

// The weights of the rows of each class: their number where there are none.
std::vector<double> class_weights(const TrainingRows<float>& rows) {
  std::vector<double> sums(rows.classes, 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) sums[static_cast<std::size_t>(rows.labels[i])] += weight_of(rows, i);
  return sums;
}

// A row and its target count by the row's weight when both are scaled by the root of that.
float root_weight(const TrainingRows<float>& rows, std::size_t row) {
  return static_cast<float>(std::sqrt(weight_of(rows, row)));
}

// Row number `from` less `mean`, scaled by the root of its weight.
void centre_row(const TrainingRows<float>& rows, std::span<const float> mean, std::size_t from,
                std::span<const float> row, std::span<float> to) {
  std::copy(row.begin(), row.end(), to.begin());
  subtract(mean, to);
  if (!rows.weights.empty()) scale_row(to, root_weight(rows, from));
}

// The same of the rows of `part`, all of which are here.
ConstMatrixView<float> centred(const TrainingRows<float>& rows, std::span<const float> mean, Slice part, int threads,
                               Matrix<float>& buffer) {
  const std::size_t here = rows.cut.own(rows.rows()).first;
  const MatrixView<float> result = reuse_apart(buffer, part.count, rows.dimension());
  parallel_for(threads, (part.count + kCentredPerTask - 1) / kCentredPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(part.count, (task + 1) * kCentredPerTask);
    for (std::size_t i = task * kCentredPerTask; i < end; ++i) {
      centre_row(rows, mean, part.first + i, rows.features.row(part.first + i - here), result.row(i));
    }
  });
  return result;
}

// All rows on every process.
TrainingRows<float> all_rows(const TrainingRows<float>& rows) {
  TrainingRows<float> all{Matrix<float>(rows.rows(), rows.dimension()), rows.labels, rows.classes, rows.noise_scale,
                          rows.weights};
  for_each_row(rows.cut, rows.features.view(), rows.rows(), [&](std::size_t i, std::span<const float> row) {
    std::copy(row.begin(), row.end(), all.features.row(i).begin());
  });
  return all;
}

// Products of the columns of the centred rows with each other, of which the lower half is right, some rows at a time;
// each process multiplies the rows that it holds.
Matrix<float> column_products(const TrainingRows<float>& rows, std::span<const float> mean, int threads) {
  Matrix<float> gram(rows.dimension(), rows.dimension());
  Matrix<float> buffer;
  const Slice own = rows.cut.own(rows.rows());
  for (std::size_t done = 0; done < own.count; done += kMostCentredRows) {
    const Slice part{own.first + done, std::min(kMostCentredRows, own.count - done)};
    lower_product(Transpose::kYes, 1.0F, centred(rows, mean, part, threads, buffer), done == 0 ? 0.0F : 1.0F,
                  gram.view(), threads);
  }
  if (Team* const team = rows.cut.team()) team->sum(std::span<float>(gram.data(), gram.rows() * gram.cols()));
  return gram;
}

// Solves for every row of `rows`, through a copy.
void solve_all(const CholeskyFactor& factor, MatrixView<float> rows, int threads) {
  Matrix<float> memory;
  const auto solved = reuse_apart(memory, rows.rows(), rows.cols());
  for (std::size_t c = 0; c < rows.rows(); ++c) std::copy_n(rows.row(c).begin(), rows.cols(), solved.row(c).begin());
  factor.solve_rows(solved, threads);
  for (std::size_t c = 0; c < rows.rows(); ++c) std::copy_n(solved.row(c).begin(), rows.cols(), rows.row(c).begin());
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

// Sums of the scores of `rows` over classes, and of their squares: one and then the other for each row.
std::vector<double> score_sums(ConstMatrixView<float> weights, ConstMatrixView<float> rows, int threads) {
  // In pieces where scores of all rows would take much memory.
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

// Rows less `mean` that spreads are measured on, evenly spaced, and how much each counts.
struct SpreadSample {
  Matrix<float> rows;
  std::vector<double> weights;
};

SpreadSample spread_sample(const TrainingRows<float>& rows, std::span<const float> mean, std::size_t most) {
  const std::size_t count = std::min(rows.rows(), most);
  SpreadSample sample{Matrix<float>(count, rows.dimension()), {}};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(i * rows.rows() / count);
  fetch_rows(rows.cut, rows.features.view(), std::span<const std::size_t>(places), sample.rows.view());
  for (std::size_t i = 0; i < count; ++i) {
    subtract(mean, sample.rows.row(i));
    sample.weights.push_back(weight_of(rows, places[i]));
  }
  return sample;
}

// The standard deviation of the scores of the rows, over rows and classes; what is the same for all classes counts for
// nothing.
double spread(ConstMatrixView<float> weights, const SpreadSample& sample, std::size_t all_classes, int threads,
              const WorkShare* share) {
  std::vector<double> sums = score_sums(weights, sample.rows.view(), threads);
  if (share != nullptr) share->same_slice().sum(std::span<double>(sums));
  const auto classes = static_cast<double>(all_classes);
  double sum = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < sample.weights.size(); ++i) {
    sum += sample.weights[i] * (sums[2 * i + 1] - sums[2 * i] * sums[2 * i] / classes);
    all += sample.weights[i];
  }
  return std::sqrt(std::max(sum, 0.0) / (all * classes));
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

std::vector<float> mean_row(const TrainingRows<float>& rows) {
  std::vector<double> sums(rows.dimension(), 0.0);
  double count = 0.0;
  const Slice own = rows.cut.own(rows.rows());
  for (std::size_t i = 0; i < own.count; ++i) {
    const double weight = weight_of(rows, own.first + i);
    const auto row = rows.features.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += weight * static_cast<double>(row[j]);
    count += weight;
  }
  rows.cut.sum(sums);
  rows.cut.sum(std::span<double>(&count, 1));
  std::vector<float> mean;
  mean.reserve(sums.size());
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / count));
  return mean;
}

Matrix<float> ridge_weights(const TrainingRows<float>& rows, double penalty, int threads, const WorkShare* share) {
  const Slice block = class_block(share, rows.classes);
  const bool by_rows = rows.rows() <= rows.dimension();
  if (by_rows && rows.cut.team() != nullptr) return ridge_weights(all_rows(rows), penalty, threads, share);
  const std::vector<float> mean = mean_row(rows);
  Matrix<float> buffer;
  ConstMatrixView<float> x;  // all rows, where they are few
  Matrix<float> gram;
  if (by_rows) {
    x = centred(rows, mean, {0, rows.rows()}, threads, buffer);
    gram = Matrix<float>(rows.rows(), rows.rows());
    lower_product(Transpose::kNo, 1.0F, x, 0.0F, gram.view(), threads);
  } else {
    gram = column_products(rows, mean, threads);
  }
  // The diagonal of either product sums to the squared lengths of all rows.
  double lengths = 0.0;
  for (std::size_t i = 0; i < gram.rows(); ++i) lengths += static_cast<double>(gram(i, i));
  const double scale = lengths / static_cast<double>(rows.rows());
  for (std::size_t i = 0; i < gram.rows(); ++i) gram(i, i) += static_cast<float>(penalty * scale + kLeastPenalty);
  const CholeskyFactor factor(gram.view(), threads);
  Matrix<float> weights(block.count, rows.dimension());
  if (!by_rows) {
    // Targets are 1 for a row's class less the class's share; rows are centred, so that the shares drop out.
    std::vector<float> centred_row(rows.dimension());
    for_each_row(rows.cut, rows.features.view(), rows.rows(), [&](std::size_t i, std::span<const float> row) {
      const std::size_t place = place_of(rows, i, block);
      if (place >= block.count) return;
      centre_row(rows, mean, i, row, centred_row);
      if (!rows.weights.empty()) scale_row(std::span<float>(centred_row), root_weight(rows, i));
      add_row(std::span<const float>(centred_row), weights.row(place));
    });
    solve_all(factor, weights.view(), threads);
    return weights;
  }
  const std::vector<double> counts = class_weights(rows);
  Matrix<float> targets(block.count, rows.rows());
  for (std::size_t c = 0; c < block.count; ++c) {
    const double part = counts[block.first + c] / static_cast<double>(rows.rows());
    for (float& target : targets.row(c)) target = static_cast<float>(-part);
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const std::size_t place = place_of(rows, i, block);
    if (place < block.count) targets(place, i) += 1.0F;
    if (rows.weights.empty()) continue;
    for (std::size_t c = 0; c < block.count; ++c) targets(c, i) *= root_weight(rows, i);
  }
  solve_all(factor, targets.view(), threads);
  gemm(Transpose::kNo, Transpose::kNo, 1.0F, std::as_const(targets).view(), x, 0.0F, weights.view(), threads);
  return weights;
}

Matrix<float> class_mean_weights(const TrainingRows<float>& rows, std::span<const float> centre,
                                 const WorkShare* share) {
  const Slice block = class_block(share, rows.classes);
  const std::vector<double> counts = class_weights(rows);
  Matrix<float> weights(block.count, rows.dimension());
  std::vector<float> weighted(rows.weights.empty() ? 0 : rows.dimension());
  for_each_row(rows.cut, rows.features.view(), rows.rows(), [&](std::size_t i, std::span<const float> row) {
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
    if (!centre.empty()) subtract(centre, weights.row(c));
    const float length = std::sqrt(squared_length(std::as_const(weights).row(c)));
    if (length > kLeastLength) scale_row(weights.row(c), 1.0F / length);
  }
  return weights;
}

Head<float> with_companions(const Head<float>& trained, const TrainingRows<float>& rows, const Companions& companions,
                            int threads, const WorkShare* share) {
  return sum_with_ridge(trained, rows, companions, ridge_weights(rows, companions.ridge_penalty, threads, share),
                        kMostSpreadRows, threads, share);
}

Head<float> sum_with_ridge(const Head<float>& trained, const TrainingRows<float>& rows, const Companions& companions,
                           const Matrix<float>& ridge, std::size_t spread_rows, int threads, const WorkShare* share) {
  const std::vector<float> mean = mean_row(rows);
  const SpreadSample sample = spread_sample(rows, mean, spread_rows);
  const auto row_count = static_cast<double>(rows.rows());
  const double mean_weight = std::pow(companions.mean_rows / row_count, 2.0);
  const double part = 1.0 / (1.0 + companions.ridge_weight + mean_weight);

  Head<float> head{HeadKind::kLinear, logit_weights(trained), {}, std::vector<float>(trained.classes(), 0.0F)};
  if (trained.kind == HeadKind::kLinear) head.bias = trained.bias;
  const double trained_spread = spread(head.direction.view(), sample, rows.classes, threads, share);
  for (std::size_t c = 0; c < head.classes(); ++c) scale_row(head.direction.row(c), static_cast<float>(part));
  scale_row(std::span<float>(head.bias), static_cast<float>(part));

  const auto add = [&](const Matrix<float>& weights, std::span<const float> centre, double weight) {
    const double own = spread(weights.view(), sample, rows.classes, threads, share);
    if (own > 0.0) add_scores(weights.view(), centre, part * weight * trained_spread / own, head);
  };
  add(ridge, mean, companions.ridge_weight);
  if (mean_weight < kLeastMeanWeight) return head;
  add(class_mean_weights(rows, mean, share), mean, 0.5 * mean_weight);
  add(class_mean_weights(rows, {}, share), {}, 0.5 * mean_weight);
  return head;
}

}  // namespace annulus
