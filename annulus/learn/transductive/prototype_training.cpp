// The loss, its gradient by logits, and the steps.
#include "annulus/learn/transductive/prototype_training.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/kernels/adam.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/prototypes.h"
#include "annulus/learn/baselines/unit_rows.h"
#include "annulus/learn/method/head.h"

namespace annulus {
namespace {

constexpr std::size_t kTrainingRowsPerTask = 256;
constexpr double kLeastProbability = 1e-12;  // probabilities below it count as this one in logarithms

// The derivative of the entropy of this order by one probability.
double entropy_slope(double p, double order) {
  if (order == 1.0) return -std::log(std::max(p, kLeastProbability)) - 1.0;
  return -order / (order - 1.0) * std::pow(p, order - 1.0);
}

class PrototypeTrainer {
 public:
  PrototypeTrainer(const LabelledExamples& support, ConstMatrixView<float> queries, const PrototypeTraining& options,
                   int threads)
      : options_(options),
        threads_(threads),
        labels_(support.labels),
        rows_(support.labels.size() + queries.rows(), queries.cols()),
        prototypes_(means_of(support)),
        gradient_(prototypes_.rows(), prototypes_.cols()),
        first_(prototypes_.rows(), prototypes_.cols()),
        second_(prototypes_.rows(), prototypes_.cols()),
        logits_(rows_.rows(), prototypes_.rows()) {
    copy_units(support.features.view(), 0);
    copy_units(queries, labels_.size());
  }

  void step(std::size_t number) {
    find_probabilities();
    const std::vector<double> sums = find_logit_gradients();
    const auto temperature = static_cast<float>(options_.temperature);
    gemm(Transpose::kYes, Transpose::kNo, temperature, std::as_const(logits_).view(), std::as_const(rows_).view(), 0.0F,
         gradient_.view(), threads_);
    const auto adam = AdamStep<float>::at(options_.learning_rate, number);
    for (std::size_t k = 0; k < prototypes_.rows(); ++k) {
      const auto weights = prototypes_.row(k);
      const auto slope = gradient_.row(k);
      const float pull = temperature * static_cast<float>(sums[k]);
      for (std::size_t j = 0; j < weights.size(); ++j) slope[j] -= pull * weights[j];
      float none = 0.0F;
      float no_first = 0.0F;
      float no_second = 0.0F;
      adam_plain_row<float>(adam, weights.size(), weights.data(), &none, slope.data(), 0.0F,
                            {first_.row(k).data(), second_.row(k).data(), &no_first, &no_second});
    }
  }

  Matrix<float> query_probabilities() {
    find_probabilities();
    Matrix<float> result(rows_.rows() - labels_.size(), logits_.cols());
    for (std::size_t i = 0; i < result.rows(); ++i) {
      const auto from = std::as_const(logits_).row(labels_.size() + i);
      std::copy(from.begin(), from.end(), result.row(i).begin());
    }
    return result;
  }

 private:
  static Matrix<float> means_of(const LabelledExamples& support) {
    return nearest_mean_head(unit_rows<double>(support.features.view()).view(), support.labels, support.classes)
        .direction.clone();
  }

  void copy_units(ConstMatrixView<float> rows, std::size_t at) {
    for (std::size_t first = 0; first < rows.rows(); first += kTrainingRowsPerTask) {
      const auto block = rows.rows_at(first, std::min(kTrainingRowsPerTask, rows.rows() - first));
      const Matrix<float> unit = unit_rows<float>(block);
      std::copy_n(unit.data(), unit.rows() * unit.cols(), rows_.row(at + first).data());
    }
  }

  std::size_t tasks() const { return (rows_.rows() + kTrainingRowsPerTask - 1) / kTrainingRowsPerTask; }

  // Column sums of what `body` makes of blocks of rows, added in the order of the blocks: threads do not matter.
  template <class Body>
  std::vector<double> sums_over_rows(const Body& body) {
    Matrix<double> parts(tasks(), logits_.cols());
    parallel_for(threads_, tasks(), [&](std::size_t task) {
      const std::size_t first = task * kTrainingRowsPerTask;
      for (std::size_t i = first; i < std::min(first + kTrainingRowsPerTask, rows_.rows()); ++i)
        body(i, parts.row(task));
    });
    std::vector<double> sums(logits_.cols(), 0.0);
    for (std::size_t task = 0; task < parts.rows(); ++task) {
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += parts(task, k);
    }
    return sums;
  }

  // Fills logits_ with the softmax of the logits. |x|^2 is the same for all classes and falls out.
  void find_probabilities() {
    const auto temperature = static_cast<float>(options_.temperature);
    gemm(Transpose::kNo, Transpose::kYes, temperature, std::as_const(rows_).view(), std::as_const(prototypes_).view(),
         0.0F, logits_.view(), threads_);
    std::vector<float> offsets;
    for (std::size_t k = 0; k < prototypes_.rows(); ++k) {
      offsets.push_back(temperature * squared_length(std::as_const(prototypes_).row(k)) / 2.0F);
    }
    parallel_for(threads_, tasks(), [&](std::size_t task) {
      const std::size_t first = task * kTrainingRowsPerTask;
      const auto block = logits_.view().rows_at(first, std::min(kTrainingRowsPerTask, rows_.rows() - first));
      for (std::size_t i = 0; i < block.rows(); ++i) {
        for (std::size_t k = 0; k < offsets.size(); ++k) block(i, k) -= offsets[k];
      }
      softmax_rows(block);
    });
  }

  // Replaces probabilities by the gradient of the loss by the logits, and returns its column sums. With slope h_k of
  // the loss by p_k, that by logit k is p_k (h_k - sum_j p_j h_j).
  std::vector<double> find_logit_gradients() {
    const auto queries = static_cast<double>(rows_.rows() - labels_.size());
    std::vector<double> marginal_slope = sums_over_rows([&](std::size_t i, std::span<double> sum) {
      if (i < labels_.size()) return;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(logits_(i, k));
    });
    for (double& value : marginal_slope) {
      value = options_.marginal_entropy == 0.0
                  ? 0.0
                  : options_.marginal_entropy * entropy_slope(value / queries, options_.order);
    }
    return sums_over_rows([&](std::size_t i, std::span<double> sum) {
      const auto row = logits_.row(i);
      if (i < labels_.size()) {
        support_gradient(row, static_cast<std::size_t>(labels_[i]));
      } else {
        query_gradient(row, marginal_slope, queries);
      }
      for (std::size_t k = 0; k < row.size(); ++k) sum[k] += static_cast<double>(row[k]);
    });
  }

  void support_gradient(std::span<float> row, std::size_t label) const {
    const auto scale = static_cast<float>(options_.cross_entropy / static_cast<double>(labels_.size()));
    row[label] -= 1.0F;
    for (float& value : row) value *= scale;
  }

  void query_gradient(std::span<float> row, std::span<const double> marginal_slope, double queries) const {
    const auto slope_of = [&](std::size_t k) {
      return options_.conditional_entropy * entropy_slope(static_cast<double>(row[k]), options_.order) -
             marginal_slope[k];
    };
    double mean = 0.0;
    for (std::size_t k = 0; k < row.size(); ++k) mean += static_cast<double>(row[k]) * slope_of(k);
    for (std::size_t k = 0; k < row.size(); ++k) {
      row[k] = static_cast<float>(static_cast<double>(row[k]) * (slope_of(k) - mean) / queries);
    }
  }

  const PrototypeTraining& options_;
  int threads_;
  std::span<const std::int32_t> labels_;
  Matrix<float> rows_;  // support examples, then queries, of unit length
  Matrix<float> prototypes_;
  Matrix<float> gradient_;
  Matrix<float> first_;  // moments of Adam
  Matrix<float> second_;
  Matrix<float> logits_;  // then probabilities, then their gradients
};

}  // namespace

QueryScores train_prototypes(const LabelledExamples& support, ConstMatrixView<float> queries,
                             const PrototypeTraining& training, int threads, const ProgressCallback& progress) {
  PrototypeTrainer state(support, queries, training, threads);
  for (std::size_t step = 0; step < training.steps; ++step) {
    report(progress, {std::string(training.name), step, training.steps, {}});
    state.step(step + 1);
  }
  return {state.query_probabilities(), true};
}

}  // namespace annulus
