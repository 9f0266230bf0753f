// Scatter within classes, and the choice of its shrinkage by classes that are held out.
#include "annulus/learn/transform/within_class_metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"

namespace annulus {
namespace {

constexpr std::size_t kMostNumbers = std::size_t{1} << 24;  // of the features looked at
constexpr std::size_t kMostJudged = 1024;                   // examples that judge a strength
constexpr std::size_t kLeastClasses = 4;                    // with two examples: fewer can judge nothing
constexpr double kStrengthDeviation = 2.0;                  // of log(strength)
constexpr std::array kStrengths{0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0};
constexpr std::array kCosineScales{4.0F, 8.0F, 12.0F, 16.0F, 24.0F, 32.0F, 48.0F};
constexpr std::size_t kJudgedPerTask = 64;

// Examples of classes that have two or more, class by class.
struct Sample {
  Matrix<float> rows;
  std::vector<std::size_t> labels;  // renumbered, in ascending order
  std::vector<float> weights;       // empty: all 1
  std::size_t classes = 0;

  double weight(std::size_t row) const { return weights.empty() ? 1.0 : static_cast<double>(weights[row]); }
};

Sample sample_classes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                      std::span<const float> weights, const Partition& partition) {
  std::vector<std::vector<std::size_t>> members(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) members[static_cast<std::size_t>(labels[i])].push_back(i);
  std::erase_if(members, [](const std::vector<std::size_t>& rows_of) { return rows_of.size() < 2; });
  std::size_t all = 0;
  for (const auto& rows_of : members) all += rows_of.size();
  const std::size_t most = std::max<std::size_t>(kMostNumbers / std::max<std::size_t>(rows.cols(), 1), 2);
  const std::size_t kept =
      all <= most ? members.size() : std::max<std::size_t>(1, members.size() * most / std::max<std::size_t>(all, 1));
  Sample sample;
  std::vector<std::size_t> chosen;
  for (std::size_t c = 0; c < kept; ++c) {
    for (const std::size_t row : members[c * members.size() / kept]) {
      chosen.push_back(row);
      sample.labels.push_back(c);
      if (!weights.empty()) sample.weights.push_back(weights[row]);
    }
  }
  sample.classes = members.empty() ? 0 : kept;
  sample.rows = Matrix<float>(chosen.size(), rows.cols());
  fetch_rows(partition, rows, std::span<const std::size_t>(chosen), sample.rows.view());
  return sample;
}

struct ClassMeans {
  Matrix<float> means;
  std::vector<double> weights;  // of all examples of a class
};

ClassMeans class_means(const Sample& sample) {
  ClassMeans result{Matrix<float>(sample.classes, sample.rows.cols()), std::vector<double>(sample.classes, 0.0)};
  std::vector<float> scaled(sample.rows.cols());
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    const auto row = sample.rows.row(i);
    std::copy(row.begin(), row.end(), scaled.begin());
    scale_row(std::span<float>(scaled), static_cast<float>(sample.weight(i)));
    add_row(std::span<const float>(scaled), result.means.row(sample.labels[i]));
    result.weights[sample.labels[i]] += sample.weight(i);
  }
  for (std::size_t c = 0; c < sample.classes; ++c) {
    scale_row(result.means.row(c), static_cast<float>(1.0 / result.weights[c]));
  }
  return result;
}

// The directions in which examples differ from the means of their classes; `takes(c)` says which classes count.
template <class Takes>
Spectrum spectrum_within(const Sample& sample, const ClassMeans& means, const Takes& takes, int threads,
                         std::size_t& examples) {
  std::vector<std::size_t> chosen;
  std::vector<double> squares(sample.classes, 0.0);  // of the weights
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    if (!takes(sample.labels[i])) continue;
    chosen.push_back(i);
    squares[sample.labels[i]] += sample.weight(i) * sample.weight(i);
  }
  double freedom = 0.0;  // unbiased: weights of 1 give examples - classes
  for (std::size_t c = 0; c < sample.classes; ++c) {
    if (takes(c)) freedom += means.weights[c] - squares[c] / means.weights[c];
  }
  examples = chosen.size();
  Matrix<float> deviations(chosen.size(), sample.rows.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto from = sample.rows.row(chosen[i]);
    const auto mean = means.means.row(sample.labels[chosen[i]]);
    const auto root = static_cast<float>(std::sqrt(sample.weight(chosen[i])));
    const auto to = deviations.row(i);
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = root * (from[j] - mean[j]);
  }
  return leading_directions(std::as_const(deviations).view(), std::max(freedom, 1e-6), kMetricRank, threads);
}

double shrinkage_of(double strength, std::size_t dimension, std::size_t examples) {
  const double sphere = strength * static_cast<double>(dimension);
  return sphere / (sphere + static_cast<double>(examples));
}

// Judges the metrics of half of the classes by examples of the others, all by products that no strength changes: the
// inner product in a metric is x . y - sum over axes of factor_k (v_k . x) (v_k . y).
class Judge {
 public:
  Judge(const Sample& sample, const ClassMeans& means, std::size_t half, int threads)
      : sample_(sample), means_(means), threads_(threads) {
    spectrum_ = spectrum_within(
        sample, means, [half](std::size_t c) { return c % 2 != half; }, threads, examples_);
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < sample.labels.size(); ++i) {
      if (sample.labels[i] % 2 == half) others.push_back(i);
    }
    const std::size_t count = std::min(others.size(), kMostJudged / 2);
    Matrix<float> rows(count, sample.rows.cols());
    for (std::size_t i = 0; i < count; ++i) {
      judged_.push_back(others[i * others.size() / count]);
      std::copy_n(sample.rows.row(judged_[i]).begin(), rows.cols(), rows.row(i).begin());
      squared_lengths_.push_back(static_cast<double>(squared_length(std::as_const(rows).row(i))));
    }
    if (spectrum_.variances.empty() || count == 0) return;
    products_ = Matrix<float>(count, sample.classes);
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, std::as_const(rows).view(), means.means.view(), 0.0F, products_.view(),
         threads);
    rows_along_ = Matrix<float>(count, spectrum_.axes.rows());
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, std::as_const(rows).view(), spectrum_.axes.view(), 0.0F,
         rows_along_.view(), threads);
    means_along_ = Matrix<float>(sample.classes, spectrum_.axes.rows());
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, means.means.view(), spectrum_.axes.view(), 0.0F, means_along_.view(),
         threads);
  }

  // Adds minus the log-likelihood of the right classes at each of kCosineScales.
  void add_losses(double strength, std::span<double> losses) const {
    if (products_.rows() == 0) return;
    const Matrix<float> cosines = cosines_at(strength);
    const std::size_t tasks = (cosines.rows() + kJudgedPerTask - 1) / kJudgedPerTask;
    std::vector<std::array<double, kCosineScales.size()>> sums(tasks);
    parallel_for(threads_, tasks, [&](std::size_t task) {
      const std::size_t first = task * kJudgedPerTask;
      const std::size_t count = std::min(kJudgedPerTask, cosines.rows() - first);
      Matrix<float> logits(count, cosines.cols());
      for (std::size_t scale = 0; scale < kCosineScales.size(); ++scale) {
        std::copy_n(cosines.row(first).data(), count * cosines.cols(), logits.data());
        for (std::size_t i = 0; i < count; ++i) scale_row(logits.row(i), kCosineScales[scale]);
        softmax_rows(logits.view());
        for (std::size_t i = 0; i < count; ++i) {
          const float right = logits(i, sample_.labels[judged_[first + i]]);
          sums[task][scale] -= std::log(std::max(static_cast<double>(right), 1e-30));
        }
      }
    });
    for (const auto& sum : sums) {
      for (std::size_t scale = 0; scale < kCosineScales.size(); ++scale) losses[scale] += sum[scale];
    }
  }

 private:
  // Of the examples with all prototypes, their own without them.
  Matrix<float> cosines_at(double strength) const {
    const Metric metric = metric_of(spectrum_, shrinkage_of(strength, sample_.rows.cols(), examples_));
    std::vector<float> factors;  // 1 - (1 - shrink)^2
    for (const float shrink : metric.shrink) factors.push_back(shrink * (2.0F - shrink));
    factors.resize(rows_along_.cols(), 0.0F);
    Matrix<float> weighted(rows_along_.rows(), rows_along_.cols());
    std::vector<double> lengths = squared_lengths_;
    for (std::size_t i = 0; i < weighted.rows(); ++i) {
      multiply_row(rows_along_.row(i), std::span<const float>(factors), weighted.row(i));
      for (std::size_t k = 0; k < weighted.cols(); ++k) {
        lengths[i] -= static_cast<double>(weighted(i, k)) * static_cast<double>(rows_along_(i, k));
      }
    }
    std::vector<double> mean_lengths;
    for (std::size_t c = 0; c < sample_.classes; ++c) {
      double length = static_cast<double>(squared_length(means_.means.row(c)));
      for (std::size_t k = 0; k < factors.size(); ++k) {
        length -= static_cast<double>(factors[k]) * std::pow(static_cast<double>(means_along_(c, k)), 2.0);
      }
      mean_lengths.push_back(length);
    }
    Matrix<float> cosines = products_.clone();
    gemm(Transpose::kNo, Transpose::kYes, -1.0F, std::as_const(weighted).view(), means_along_.view(), 1.0F,
         cosines.view(), threads_);
    constexpr double kLeastSquare = 1e-12;
    for (std::size_t i = 0; i < cosines.rows(); ++i) {
      const std::size_t own = sample_.labels[judged_[i]];
      const double weight = sample_.weight(judged_[i]);
      const double all = means_.weights[own];
      const double others = all - weight;
      const auto inner = static_cast<double>(cosines(i, own));
      const double own_inner = (all * inner - weight * lengths[i]) / others;
      const double own_length =
          (all * all * mean_lengths[own] - 2.0 * all * weight * inner + weight * weight * lengths[i]) /
          (others * others);
      for (std::size_t c = 0; c < sample_.classes; ++c) {
        const double product = c == own ? own_inner : static_cast<double>(cosines(i, c));
        const double length = c == own ? own_length : mean_lengths[c];
        cosines(i, c) = static_cast<float>(
            product / std::sqrt(std::max(length, kLeastSquare) * std::max(lengths[i], kLeastSquare)));
      }
    }
    return cosines;
  }

  const Sample& sample_;
  const ClassMeans& means_;
  int threads_;
  std::size_t examples_ = 0;
  Spectrum spectrum_;
  std::vector<std::size_t> judged_;  // examples of the sample
  std::vector<double> squared_lengths_;
  Matrix<float> products_;     // of the examples with the means
  Matrix<float> rows_along_;   // the axes
  Matrix<float> means_along_;  // the axes
};

void choose_strength(const Sample& sample, const ClassMeans& means, int threads, WithinClassMetric& result) {
  if (sample.classes < kLeastClasses) return;
  const std::array judges{Judge(sample, means, 0, threads), Judge(sample, means, 1, threads)};
  for (std::size_t i = 0; i < kStrengths.size(); ++i) {
    std::array<double, kCosineScales.size()> losses{};
    for (const Judge& judge : judges) judge.add_losses(kStrengths[i], losses);
    const double prior = std::pow(std::log(kStrengths[i]) / kStrengthDeviation, 2.0) / 2.0;
    const double loss = *std::min_element(losses.begin(), losses.end()) + prior;
    if (result.held_out_loss && !(loss < *result.held_out_loss)) continue;
    result.held_out_loss = loss;
    result.strength = kStrengths[i];
  }
}

}  // namespace

WithinClassMetric learn_within_class_metric(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                                            std::size_t classes, std::span<const float> weights,
                                            const Partition& partition, std::optional<double> strength, int threads) {
  WithinClassMetric result;
  const Sample sample = sample_classes(rows, labels, classes, weights, partition);
  if (sample.classes == 0) return result;
  const ClassMeans means = class_means(sample);
  const Spectrum spectrum = spectrum_within(
      sample, means, [](std::size_t) { return true; }, threads, result.examples);
  if (strength) {
    result.strength = *strength;
  } else {
    choose_strength(sample, means, threads, result);
  }
  result.shrinkage = shrinkage_of(result.strength, rows.cols(), result.examples);
  result.metric = metric_of(spectrum, result.shrinkage);
  return result;
}

}  // namespace annulus
