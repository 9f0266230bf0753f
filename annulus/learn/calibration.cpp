// The temperature and the rule about strangers, from what was held out.
#include "annulus/learn/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/class_spread.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/support_index.h"
#include "annulus/learn/unknown.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

constexpr double kPriorDeviation = 0.5;  // of log(temperature)
constexpr double kLeastSpread = 1e-6;    // of evidence that tells something
constexpr double kColdest = 0.02;
constexpr double kHottest = 50.0;

// The share of the rows' variance that is between classes: how much two rows of a class have in common.
double share_between_classes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                             std::span<const std::size_t> counts) {
  Matrix<float> sums(counts.size() + 1, rows.cols());  // of each class, and of all
  double squares = 0.0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    squares += static_cast<double>(squared_length(rows.row(i)));
    add_row(rows.row(i), sums.row(static_cast<std::size_t>(labels[i])));
    add_row(rows.row(i), sums.row(counts.size()));
  }
  double between = 0.0;
  double freedom = 0.0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    const auto count = static_cast<double>(counts[c]);
    between += static_cast<double>(squared_length(std::as_const(sums).row(c))) / count;
    freedom += count - 1.0;
  }
  const auto all = static_cast<double>(labels.size());
  const double total =
      (squares - static_cast<double>(squared_length(std::as_const(sums).row(counts.size()))) / all) / (all - 1.0);
  const double within = (squares - between) / freedom;
  return total > 0.0 ? std::clamp(1.0 - within / total, 0.01, 1.0) : 1.0;
}

double deviation(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1.0));
}

// Heads that were trained on fewer rows have smaller logits than the one that will be asked. Half of that (the root of
// the factor): the rows of low scores, which thresholds are about, gain less than others.
double growth_of_logits(const SupportIndex& index, const SupportRows& support, const HoldOutPlan& plan,
                        std::size_t held_out) {
  const double rho = share_between_classes(index.rows(), support.labels, plan.counts);
  const auto classes = static_cast<double>(plan.counts.size());
  const double shots = static_cast<double>(support.rows()) / classes;
  const double fewer = shots - static_cast<double>(held_out) / (static_cast<double>(plan.turns) * classes);
  return std::sqrt(logit_growth(rho, fewer, shots));
}

std::vector<float> spread_axes(const SupportIndex& index, const SupportRows& support, int threads) {
  const Matrix<float> axes = class_spread_axes(index.rows(), support.labels, threads);
  return {axes.data(), axes.data() + axes.rows() * axes.cols()};
}

UnknownRule learn_rule(const HoldOut& hold_out, const HoldOutPlan& plan, const HeldOutRows& held,
                       std::span<const EvidenceTurn> turns, const Conditioning& conditioning, double temperature) {
  const int threads = hold_out.recipe.final_training.threads;
  const SupportRows asked = select_support(hold_out.support, held.rows);
  const SupportIndex index(conditioning, hold_out.support, threads);
  const std::vector<std::int32_t> named = named_classes(held.logits.view());
  const std::vector<float> near =
      nearest_of_class(conditioning, index, hold_out.support.labels, asked.features.view(), named, threads, held.rows);
  const std::vector<float> close = index.closeness_without(held.rows, named, threads);
  const double growth = growth_of_logits(index, hold_out.support, plan, held.rows.size());
  std::vector<std::array<float, kUnknownParts>> parts;
  std::array<std::vector<double>, kEvidenceKinds> evidence;
  for (std::size_t i = 0; i < held.rows.size(); ++i) {
    std::vector<float> logits(held.logits.row(i).begin(), held.logits.row(i).end());
    scale_row(std::span<float>(logits), static_cast<float>(growth / temperature));
    parts.push_back(unknown_parts(logits, near[i], close[i]));
    const Evidence found = evidence_in(parts.back());
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) evidence[j].push_back(found[j]);
  }
  Evidence weights = learn_evidence_weights(turns);
  for (std::size_t j = 0; j < kEvidenceKinds; ++j) {
    const double units = deviation(evidence[j]);
    weights[j] = units > kLeastSpread ? weights[j] / units : 0.0;
  }
  UnknownRule rule;
  rule.weights = part_weights(weights);
  rule.axes = spread_axes(index, hold_out.support, threads);
  std::vector<float> scores;
  scores.reserve(parts.size());
  for (const auto& row : parts) scores.push_back(unknown_score(rule, row));
  rule.quantiles = quantiles_of(std::move(scores));
  return rule;
}

double penalised_loss(ConstMatrixView<float> logits, std::span<const std::int32_t> labels,
                      std::span<const float> weights, double log_temperature, int threads) {
  constexpr std::size_t kBlockRows = 64;
  const double cold = std::exp(-log_temperature);
  std::vector<double> losses((logits.rows() + kBlockRows - 1) / kBlockRows, 0.0);
  parallel_for(threads, losses.size(), [&](std::size_t block) {
    const std::size_t end = std::min((block + 1) * kBlockRows, logits.rows());
    for (std::size_t i = block * kBlockRows; i < end; ++i) {
      const auto row = logits.row(i);
      const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
      double sum = 0.0;
      for (const float logit : row) sum += std::exp(cold * (static_cast<double>(logit) - largest));
      const auto own = static_cast<double>(row[static_cast<std::size_t>(labels[i])]);
      const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i]);
      losses[block] += weight * (std::log(sum) - cold * (own - largest));
    }
  });
  return std::accumulate(losses.begin(), losses.end(),
                         log_temperature * log_temperature / (2.0 * kPriorDeviation * kPriorDeviation));
}

}  // namespace

double best_temperature(ConstMatrixView<float> logits, std::span<const std::int32_t> labels, int threads,
                        std::span<const float> weights) {
  if (labels.empty()) return 1.0;
  // Golden sections: the loss is convex in 1 / t, so it has one valley in log t, and the penalty is flat beside it.
  const double ratio = (std::sqrt(5.0) - 1.0) / 2.0;
  double low = std::log(kColdest);
  double high = std::log(kHottest);
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  const auto loss = [&](double log_temperature) {
    return penalised_loss(logits, labels, weights, log_temperature, threads);
  };
  double left_loss = loss(left);
  double right_loss = loss(right);
  while (high - low > 1e-3) {
    if (left_loss <= right_loss) {
      high = right;
      right = left;
      right_loss = left_loss;
      left = high - ratio * (high - low);
      left_loss = loss(left);
    } else {
      low = left;
      left = right;
      left_loss = right_loss;
      right = low + ratio * (high - low);
      right_loss = loss(right);
    }
  }
  return std::exp((low + high) / 2.0);
}

HeldOutQuality quality_of(const Calibration& calibration) {
  constexpr std::size_t kBins = 15;
  std::array<double, kBins> gaps{};  // confidence less hits
  HeldOutQuality quality{calibration.labels.size(), 0.0, 0.0};
  const auto rows = static_cast<double>(quality.rows);
  for (std::size_t i = 0; i < quality.rows; ++i) {
    const auto row = calibration.probabilities.row(i);
    const auto best = std::max_element(row.begin(), row.end());
    const bool right = best - row.begin() == calibration.labels[i];
    const auto confidence = static_cast<double>(*best);
    gaps[std::min(kBins - 1, static_cast<std::size_t>(confidence * kBins))] += confidence - (right ? 1.0 : 0.0);
    if (right) quality.accuracy += 1.0 / rows;
  }
  for (const double gap : gaps) quality.calibration_error += std::fabs(gap) / std::max(rows, 1.0);
  return quality;
}

double logit_growth(double rho, double fewer, double shots) {
  const auto reached = [rho](double k) { return k * rho / (1.0 + (k - 1.0) * rho); };
  return reached(shots) / reached(fewer);
}

Calibration calibrate(const SupportRows& support, const FitResult& fit, const Recipe& recipe, Refit& refit,
                      const ProgressCallback& progress, std::span<const float> weights, bool with_rule) {
  const std::size_t classes = all_classes(recipe.final_training.share, fit.head.classes());
  const HoldOutPlan plan = plan_hold_out(support, classes, recipe.final_training.seed);
  Calibration result;
  const bool holds_out = plan.folds >= 2;
  const auto held_out = static_cast<std::size_t>(
      std::count_if(plan.fold.begin(), plan.fold.end(), [&](std::size_t fold) { return fold < plan.turns; }));
  const bool knows_known = holds_out && held_out >= kLeastHeldOut;
  std::vector<ClassTurn> class_turns;
  if (with_rule) class_turns = knows_known ? plan_class_turns(plan) : plan_stranger_turns(plan);
  Recipe at_radius = recipe;
  at_radius.epsilon = fit.epsilon;
  HoldOut hold_out{support, weights, at_radius, refit, progress, (holds_out ? plan.turns : 0) + class_turns.size()};
  HeldOutRows held;
  if (holds_out) {
    held = hold_out_rows(hold_out, plan);
    result.temperature =
        best_temperature(std::as_const(held.logits).view(), held.labels, recipe.final_training.threads, held.weights);
  } else if (recipe.name == "default" && fit.epsilon > 0.0) {
    result.temperature = kOneRowTemperature;
  }
  if (with_rule) {
    const std::vector<EvidenceTurn> turns = hold_out_classes(hold_out, plan, class_turns, result.temperature);
    result.unknown = knows_known ? learn_rule(hold_out, plan, held, turns, fit.head.conditioning, result.temperature)
                                 : rule_from_strangers(turns, classes);
    if (!knows_known && holds_out && !result.unknown.empty()) {
      const int threads = recipe.final_training.threads;
      result.unknown.axes = spread_axes(SupportIndex(fit.head.conditioning, support, threads), support, threads);
    }
  }
  if (!holds_out) return result;
  to_probabilities(held.logits.view(), result.temperature);
  result.probabilities = std::move(held.logits);
  result.labels = std::move(held.labels);
  return result;
}

}  // namespace annulus
