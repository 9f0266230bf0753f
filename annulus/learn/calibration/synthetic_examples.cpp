// Generates synthetic examples and computes the logits of heads on them.
#include "annulus/learn/calibration/synthetic_examples.h"

#include <algorithm>
#include <cmath>

#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/model/support_index.h"

namespace annulus {
namespace {

constexpr std::uint32_t kSyntheticStream = 0xF01F;  // random stream that no other calibration uses
constexpr std::size_t kEnoughToMixWith = 50;        // unknown inputs
constexpr std::size_t kMostSyntheticLogits = std::size_t{1} << 24;
constexpr std::size_t kLeastSyntheticExamples = 16;  // per training, also with very many classes

// The mean of the transformed training examples of a head.
std::vector<float> mean_of(const HoldOut& hold_out, const ClassTraining& training) {
  std::vector<double> sums(hold_out.support.features.cols(), 0.0);
  for_each_conditioned(training.fit.head.transform, hold_out.support, training.learnt,
                       hold_out.recipe.final_training.threads, [&](std::size_t, std::span<const float> row) {
                         for (std::size_t j = 0; j < row.size(); ++j) sums[j] += static_cast<double>(row[j]);
                       });
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / static_cast<double>(training.learnt.size())));
  return mean;
}

ScoredExamples score_training(const HoldOut& hold_out, const ClassTraining& training, std::size_t number,
                              std::size_t count) {
  const TrainOptions& options = hold_out.recipe.final_training;
  const FeatureTransform& transform = training.fit.head.transform;
  const SupportIndex unknown(transform, training.unknown);
  const std::vector<float> mean = mean_of(hold_out, training);
  const RandomStream stream{options.seed, RandomUse::kCalibration,
                            kSyntheticStream + static_cast<std::uint32_t>(number)};
  std::vector<std::size_t> own;  // support examples that synthetic ones are made from
  ScoredExamples scored;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = stream.below(3 * i, training.learnt.size());
    own.push_back(training.learnt[place]);
    scored.labels.push_back(training.labels[place]);
  }
  Matrix<float> synthetic_examples(count, mean.size());
  for_each_conditioned(transform, hold_out.support, own, options.threads, [&](std::size_t i, const auto z) {
    const auto s = unknown.rows().row(stream.below(3 * i + 1, training.unknown.rows()));
    const double shared = kMostInCommon * stream.uniform(3 * i + 2);
    const auto a = static_cast<float>(shared);
    const auto b = static_cast<float>(std::sqrt(1.0 - shared * shared));
    const auto row = synthetic_examples.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = mean[j] + a * (z[j] - mean[j]) + b * (s[j] - mean[j]);
    scale_row(row, 1.0F / std::max(std::sqrt(squared_length<float>(row)), 1e-6F));
  });
  Head<float> head = training.fit.head.clone();
  head.transform = {};  // these rows are transformed
  scored.logits = Matrix<float>(count, training.classes);
  shared_logits(*options.layout, head, synthetic_examples.view(), scored.logits.view(), options.threads);
  return scored;
}

}  // namespace

std::vector<ScoredExamples> score_synthetic_examples(const HoldOut& hold_out, std::span<const ClassTraining> trainings,
                                                     std::size_t count) {
  std::vector<ScoredExamples> scored;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const std::size_t most = kMostSyntheticLogits / (trainings.size() * trainings[i].classes);
    const std::size_t rows = std::max(kLeastSyntheticExamples, std::min(count / trainings.size(), most));
    scored.push_back(score_training(hold_out, trainings[i], i, rows));
  }
  return scored;
}

std::size_t folds_for_synthetic_examples(const HoldOutPlan& plan, std::span<const ClassFold> folds) {
  std::size_t count = 0;
  for (std::size_t unknown_inputs = 0; count < folds.size() && unknown_inputs < kEnoughToMixWith; ++count) {
    unknown_inputs += plan.fold.size() / folds[count].groups;
  }
  return count;
}

}  // namespace annulus
