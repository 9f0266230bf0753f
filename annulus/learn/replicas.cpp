// Draws replicas and asks heads about them.
#include "annulus/learn/replicas.h"

#include <algorithm>
#include <cmath>

#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/companions.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

constexpr std::uint32_t kReplicaStream = 0xF01F;  // numbers that no other calibration uses
constexpr std::size_t kEnoughToMixWith = 50;      // strangers
constexpr std::size_t kMostReplicaLogits = std::size_t{1} << 24;
constexpr std::size_t kLeastReplicas = 16;  // of a training, also where it has very many classes

AnsweredRows ask_training(const HoldOut& hold_out, const ClassTraining& training, std::size_t number,
                          std::size_t count) {
  const TrainOptions& options = hold_out.recipe.final_training;
  const ConstMatrixView<float> known = training.learnt.rows();
  const SupportIndex strange(training.fit.head.conditioning, training.strange);
  const std::vector<float> mean = mean_row(known, {});
  const RandomStream stream{options.seed, RandomUse::kCalibration, kReplicaStream + static_cast<std::uint32_t>(number)};
  Matrix<float> replicas(count, known.cols());
  AnsweredRows answered;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t own = stream.below(3 * i, known.rows());
    const auto z = known.row(own);
    const auto s = strange.rows().row(stream.below(3 * i + 1, training.strange.rows()));
    const double shared = kMostInCommon * stream.uniform(3 * i + 2);
    const auto a = static_cast<float>(shared);
    const auto b = static_cast<float>(std::sqrt(1.0 - shared * shared));
    const auto row = replicas.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = mean[j] + a * (z[j] - mean[j]) + b * (s[j] - mean[j]);
    scale_row(row, 1.0F / std::max(std::sqrt(squared_length<float>(row)), 1e-6F));
    answered.labels.push_back(training.labels[own]);
  }
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
