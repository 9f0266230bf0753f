// Draws replicas and asks heads about them.
#include "annulus/learn/replicas.h"

#include <algorithm>
#include <cmath>

#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/support_index.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

constexpr std::uint32_t kReplicaStream = 0xF01F;  // numbers that no other calibration uses
constexpr std::size_t kEnoughToMixWith = 50;      // strangers
constexpr std::size_t kMostReplicaLogits = std::size_t{1} << 24;
constexpr std::size_t kLeastReplicas = 16;  // of a training, also where it has very many classes

// Of the conditioned rows that a head learnt.
std::vector<float> mean_of(const HoldOut& hold_out, const ClassTraining& training) {
  std::vector<double> sums(hold_out.support.features.cols(), 0.0);
  for_each_conditioned(training.fit.head.conditioning, hold_out.support, training.learnt,
                       hold_out.recipe.final_training.threads, [&](std::size_t, std::span<const float> row) {
                         for (std::size_t j = 0; j < row.size(); ++j) sums[j] += static_cast<double>(row[j]);
                       });
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / static_cast<double>(training.learnt.size())));
  return mean;
}

AnsweredRows ask_training(const HoldOut& hold_out, const ClassTraining& training, std::size_t number,
                          std::size_t count) {
  const TrainOptions& options = hold_out.recipe.final_training;
  const Conditioning& conditioning = training.fit.head.conditioning;
  const SupportIndex strange(conditioning, training.strange);
  const std::vector<float> mean = mean_of(hold_out, training);
  const RandomStream stream{options.seed, RandomUse::kCalibration, kReplicaStream + static_cast<std::uint32_t>(number)};
  std::vector<std::size_t> own;  // support rows that are repeated
  AnsweredRows answered;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = stream.below(3 * i, training.learnt.size());
    own.push_back(training.learnt[place]);
    answered.labels.push_back(training.labels[place]);
  }
  Matrix<float> replicas(count, mean.size());
  for_each_conditioned(conditioning, hold_out.support, own, options.threads, [&](std::size_t i, const auto z) {
    const auto s = strange.rows().row(stream.below(3 * i + 1, training.strange.rows()));
    const double shared = kMostInCommon * stream.uniform(3 * i + 2);
    const auto a = static_cast<float>(shared);
    const auto b = static_cast<float>(std::sqrt(1.0 - shared * shared));
    const auto row = replicas.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = mean[j] + a * (z[j] - mean[j]) + b * (s[j] - mean[j]);
    scale_row(row, 1.0F / std::max(std::sqrt(squared_length<float>(row)), 1e-6F));
  });
  Head<float> head = training.fit.head.clone();
  head.conditioning = {};  // these rows are conditioned
  answered.logits = Matrix<float>(count, training.classes);
  shared_logits(options.share, head, replicas.view(), answered.logits.view(), options.threads);
  return answered;
}

}  // namespace

std::vector<AnsweredRows> ask_about_replicas(const HoldOut& hold_out, std::span<const ClassTraining> trainings,
                                             std::size_t count) {
  std::vector<AnsweredRows> answered;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const std::size_t most = kMostReplicaLogits / (trainings.size() * trainings[i].classes);
    const std::size_t rows = std::max(kLeastReplicas, std::min(count / trainings.size(), most));
    answered.push_back(ask_training(hold_out, trainings[i], i, rows));
  }
  return answered;
}

std::size_t turns_for_replicas(const HoldOutPlan& plan, std::span<const ClassTurn> turns) {
  std::size_t count = 0;
  for (std::size_t strangers = 0; count < turns.size() && strangers < kEnoughToMixWith; ++count) {
    strangers += plan.fold.size() / turns[count].groups;
  }
  return count;
}

}  // namespace annulus
