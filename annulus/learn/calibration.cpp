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
#include "annulus/learn/replicas.h"
#include "annulus/learn/support_index.h"
#include "annulus/learn/unknown.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

constexpr double kPriorDeviation = 0.5;  // of log(temperature)
constexpr double kLeastSpread = 1e-6;    // of evidence that tells something
constexpr double kColdest = 0.02;
constexpr double kHottest = 50.0;
constexpr std::size_t kReplicas = 1000;

// The share of the rows' variance that is between classes: how much two rows of a class have in common.
double share_between_classes(const SupportRows& support, const Conditioning& conditioning,
                             std::span<const std::size_t> counts, int threads) {
  std::vector<std::size_t> by_class(support.rows());
  std::iota(by_class.begin(), by_class.end(), std::size_t{0});
  std::stable_sort(by_class.begin(), by_class.end(),
                   [&](std::size_t a, std::size_t b) { return support.labels[a] < support.labels[b]; });
  Matrix<float> sums(2, support.features.cols());  // of one class, and of all
  double squares = 0.0;
  double between = 0.0;
  double freedom = 0.0;
  std::size_t left = 0;  // rows of the class
  for_each_conditioned(conditioning, support, by_class, threads, [&](std::size_t i, std::span<const float> row) {
    const std::size_t count = counts[static_cast<std::size_t>(support.labels[by_class[i]])];
    if (left == 0) {
      left = count;
      std::fill(sums.row(0).begin(), sums.row(0).end(), 0.0F);
    }
    squares += static_cast<double>(squared_length(row));
    add_row(row, sums.row(0));
    add_row(row, sums.row(1));
    if (--left > 0) return;
    between += static_cast<double>(squared_length(std::as_const(sums).row(0))) / static_cast<double>(count);
    freedom += static_cast<double>(count) - 1.0;
  });
  const auto all = static_cast<double>(support.rows());
  const double total = (squares - static_cast<double>(squared_length(std::as_const(sums).row(1))) / all) / (all - 1.0);
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
double growth_of_logits(const SupportRows& support, const Conditioning& conditioning, const HoldOutPlan& plan,
                        std::size_t held_out, int threads) {
  const double rho = share_between_classes(support, conditioning, plan.counts, threads);
  const auto classes = static_cast<double>(plan.counts.size());
  const double shots = static_cast<double>(support.rows()) / classes;
  const double fewer = shots - static_cast<double>(held_out) / (static_cast<double>(plan.turns) * classes);
  return std::sqrt(logit_growth(rho, fewer, shots));
}

std::vector<float> spread_axes(const SupportIndex& index, std::span<const std::int32_t> labels, int threads) {
  const Matrix<float> axes = class_spread_axes(index.rows(), labels, threads);
  return {axes.data(), axes.data() + axes.rows() * axes.cols()};
}

// Where each of `rows` stands in `all`; both in ascending order.
std::vector<std::size_t> places_of(std::span<const std::size_t> rows, std::span<const std::size_t> all) {
  std::vector<std::size_t> places;
  for (const std::size_t row : rows) {
    places.push_back(static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), row) - all.begin()));
  }
  return places;
}

// Axes where little is known of known things: from the classes of two rows or more.
std::vector<float> axes_of_all(const SupportRows& support, const Conditioning& conditioning, const HoldOutPlan& plan,
                               int threads) {
  std::vector<bool> wanted;
  for (const std::size_t rows : plan.counts) wanted.push_back(rows > 1);
  SupportRows rows = fetch_support(support, rows_to_index(support.labels, wanted));
  return spread_axes(SupportIndex(conditioning, std::move(rows.features), rows.labels, threads), rows.labels, threads);
}

// `cold` is what logits of held-out rows are multiplied by.
UnknownRule learn_rule(const HoldOut& hold_out, const HeldOutRows& held, std::span<const EvidenceTurn> turns,
                       const Conditioning& conditioning, double cold) {
  const int threads = hold_out.recipe.final_training.threads;
  const std::vector<std::int32_t> named = named_classes(held.logits.view());
  std::vector<bool> wanted(held.logits.cols(), false);
  for (const std::int32_t label : named) wanted[static_cast<std::size_t>(label)] = true;
  for (const std::int32_t label : held.labels) wanted[static_cast<std::size_t>(label)] = true;
  const std::vector<std::size_t> indexed = rows_to_index(hold_out.support.labels, wanted);
  SupportRows support = fetch_support(hold_out.support, indexed);
  const std::vector<std::size_t> asked = places_of(held.rows, indexed);
  const SupportIndex index(conditioning, std::move(support.features), support.labels, threads);
  const std::vector<ClassNearness> nearness = index.near_class_without(asked, named, threads);
  std::vector<std::array<float, kUnknownParts>> parts;
  std::array<std::vector<double>, kEvidenceKinds> evidence;
  for (std::size_t i = 0; i < held.rows.size(); ++i) {
    std::vector<float> logits(held.logits.row(i).begin(), held.logits.row(i).end());
    scale_row(std::span<float>(logits), static_cast<float>(cold));
    parts.push_back(unknown_parts(logits, nearness[i]));
    const Evidence found = evidence_in(parts.back());
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) evidence[j].push_back(found[j]);
  }
  Evidence weights = learn_evidence_weights(turns, held.logits.cols());
  for (std::size_t j = 0; j < kEvidenceKinds; ++j) {
    const double units = deviation(evidence[j]);
    weights[j] = units > kLeastSpread ? weights[j] / units : 0.0;
  }
  UnknownRule rule;
  rule.weights = part_weights(weights);
  rule.axes = spread_axes(index, support.labels, threads);
  std::vector<float> scores;
  scores.reserve(parts.size());
  for (const auto& row : parts) scores.push_back(unknown_score(rule, row));
  rule.quantiles = quantiles_of(std::move(scores));
  return rule;
}

double loss_at(const TemperatureSample& sample, double log_temperature, int threads) {
  constexpr std::size_t kBlockRows = 64;
  const double cold = std::exp(-log_temperature);
  std::vector<double> losses((sample.logits.rows() + kBlockRows - 1) / kBlockRows, 0.0);
  parallel_for(threads, losses.size(), [&](std::size_t block) {
    const std::size_t end = std::min((block + 1) * kBlockRows, sample.logits.rows());
    for (std::size_t i = block * kBlockRows; i < end; ++i) {
      const auto row = sample.logits.row(i);
      const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
      double sum = 0.0;
      for (const float logit : row) sum += std::exp(cold * (static_cast<double>(logit) - largest));
      const auto own = static_cast<double>(row[static_cast<std::size_t>(sample.labels[i])]);
      const double weight = sample.weights.empty() ? 1.0 : static_cast<double>(sample.weights[i]);
      losses[block] += weight * (std::log(sum) - cold * (own - largest));
    }
  });
  return sample.factor * std::accumulate(losses.begin(), losses.end(), 0.0);
}

// Trainings without part of the classes: for the rule about strangers, and for replicas where rows are too few.
std::vector<ClassTurn> plan_turns(const HoldOutPlan& plan, bool knows_known, bool with_rule) {
  if (knows_known) return with_rule ? plan_class_turns(plan) : std::vector<ClassTurn>{};
  std::vector<ClassTurn> turns = plan_stranger_turns(plan);
  if (!with_rule) turns.resize(turns_for_replicas(plan, turns));
  return turns;
}

// Evidence of trainings that were made, and of those that are left to make.
std::vector<EvidenceTurn> ask_all(HoldOut& hold_out, const HoldOutPlan& plan, std::vector<ClassTraining>&& trained,
                                  std::span<const ClassTurn> left, double temperature) {
  std::vector<EvidenceTurn> evidence;
  for (const ClassTraining& training : trained) {
    evidence.push_back(ask_about_strangers(hold_out, training, temperature));
  }
  trained.clear();  // heads and rows may be large
  for (const ClassTurn& turn : left) {
    const auto training = train_without_classes(hold_out, plan, turn);
    if (training) evidence.push_back(ask_about_strangers(hold_out, *training, temperature));
  }
  return evidence;
}

// The temperature from rows that were held out, and from replicas where there are any.
double temperature_of(const HeldOutRows& held, std::span<const AnsweredRows> replicas, int threads) {
  std::vector<TemperatureSample> samples{{std::as_const(held.logits).view(), held.labels, held.weights}};
  std::size_t count = 0;
  for (const AnsweredRows& part : replicas) count += part.labels.size();
  for (const AnsweredRows& part : replicas) {
    samples.push_back({part.logits.view(), part.labels, {}, kReplicaRows / static_cast<double>(count)});
  }
  return best_temperature(samples, threads);
}

}  // namespace

double best_temperature(std::span<const TemperatureSample> samples, int threads) {
  if (std::all_of(samples.begin(), samples.end(), [](const auto& sample) { return sample.labels.empty(); })) return 1.0;
  // Golden sections: the loss is convex in 1 / t, so it has one valley in log t, and the penalty is flat beside it.
  const double ratio = (std::sqrt(5.0) - 1.0) / 2.0;
  double low = std::log(kColdest);
  double high = std::log(kHottest);
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  const auto loss = [&](double log_temperature) {
    double sum = log_temperature * log_temperature / (2.0 * kPriorDeviation * kPriorDeviation);
    for (const TemperatureSample& sample : samples) sum += loss_at(sample, log_temperature, threads);
    return sum;
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
  const std::vector<ClassTurn> class_turns = plan_turns(plan, knows_known, with_rule);
  Recipe at_radius = recipe;
  at_radius.epsilon = fit.epsilon;
  HoldOut hold_out{support, weights, at_radius, refit, progress, (holds_out ? plan.turns : 0) + class_turns.size()};
  HeldOutRows held;
  if (holds_out) held = hold_out_rows(hold_out, plan);
  const int threads = recipe.final_training.threads;
  const std::size_t with_replicas = knows_known ? 0 : turns_for_replicas(plan, class_turns);
  std::vector<ClassTraining> trainings;  // that replicas are asked of
  for (const ClassTurn& turn : std::span(class_turns).first(with_replicas)) {
    if (auto training = train_without_classes(hold_out, plan, turn)) trainings.push_back(std::move(*training));
  }
  const double asked = temperature_of(held, ask_about_replicas(hold_out, trainings, kReplicas), threads);
  const double growth =
      holds_out ? growth_of_logits(support, fit.head.conditioning, plan, held.rows.size(), threads) : 1.0;
  result.temperature = asked / growth;
  if (with_rule) {
    const auto turns =
        ask_all(hold_out, plan, std::move(trainings), std::span(class_turns).subspan(with_replicas), asked);
    result.unknown = knows_known ? learn_rule(hold_out, held, turns, fit.head.conditioning, growth / result.temperature)
                                 : rule_from_strangers(turns, classes);
    if (!knows_known && holds_out && !result.unknown.empty()) {
      result.unknown.axes = axes_of_all(support, fit.head.conditioning, plan, threads);
    }
  }
  if (!holds_out) return result;
  to_probabilities(held.logits.view(), asked);
  result.probabilities = std::move(held.logits);
  result.labels = std::move(held.labels);
  return result;
}

}  // namespace annulus
