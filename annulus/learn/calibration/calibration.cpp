// Computes the temperature and the rejection rule from held-out examples.
#include "annulus/learn/calibration/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/calibration/confidence_bins.h"
#include "annulus/learn/calibration/golden_section.h"
#include "annulus/learn/calibration/synthetic_examples.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/support_index.h"
#include "annulus/learn/openset/catch_rate.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/learn/transform/class_spread.h"

namespace annulus {
namespace {

constexpr double kPriorDeviation = 0.5;  // of log(temperature)
constexpr double kLeastSpread = 1e-6;    // open-set features with less spread are ignored
constexpr double kColdest = 0.02;
constexpr double kHottest = 50.0;
constexpr std::size_t kSyntheticExamples = 1000;

// The fraction of the variance that is between classes: the mean correlation of two examples of a class.
double fraction_between_classes(const SupportSet& support, const FeatureTransform& transform,
                                std::span<const std::size_t> counts, int threads) {
  std::vector<std::size_t> by_class(support.rows());
  std::iota(by_class.begin(), by_class.end(), std::size_t{0});
  std::stable_sort(by_class.begin(), by_class.end(),
                   [&](std::size_t a, std::size_t b) { return support.labels[a] < support.labels[b]; });
  Matrix<float> sums(2, support.features.cols());  // of one class, and of all
  double squares = 0.0;
  double between = 0.0;
  double freedom = 0.0;
  std::size_t left = 0;  // examples of the class
  for_each_conditioned(transform, support, by_class, threads, [&](std::size_t i, std::span<const float> row) {
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

// Heads that were trained on fewer examples have smaller logits than the final head. Only half of that growth is
// applied (the root of the factor), because examples with low scores, which determine the thresholds, gain less than
// others.
double growth_of_logits(const SupportSet& support, const FeatureTransform& transform, const HoldOutPlan& plan,
                        std::size_t held_out, int threads) {
  const double rho = fraction_between_classes(support, transform, plan.counts, threads);
  const auto classes = static_cast<double>(plan.counts.size());
  const double groups_an_example = plan.shots / (static_cast<double>(support.rows()) / classes);
  const double left_out = static_cast<double>(held_out) / (static_cast<double>(plan.held_out_folds) * classes);
  return std::sqrt(logit_growth(rho, plan.shots - groups_an_example * left_out, plan.shots));
}

std::vector<float> spread_axes(const SupportIndex& index, std::span<const std::int32_t> labels, int threads) {
  const Matrix<float> axes = class_spread_axes(index.rows(), labels, threads);
  return {axes.data(), axes.data() + axes.rows() * axes.cols()};
}

// The position of each of `rows` in `all`; both are in ascending order.
std::vector<std::size_t> places_of(std::span<const std::size_t> rows, std::span<const std::size_t> all) {
  std::vector<std::size_t> places;
  for (const std::size_t row : rows) {
    places.push_back(static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), row) - all.begin()));
  }
  return places;
}

// Axes when few examples could be held out: from the classes with two examples or more.
std::vector<float> axes_of_all(const SupportSet& support, const FeatureTransform& transform, const HoldOutPlan& plan,
                               int threads) {
  std::vector<bool> wanted;
  for (const std::size_t rows : plan.counts) wanted.push_back(rows > 1);
  SupportSet rows = fetch_support(support, rows_to_index(support.labels, wanted));
  return spread_axes(SupportIndex(transform, std::move(rows.features), rows.labels, threads), rows.labels, threads);
}

using Parts = std::vector<std::array<float, kUnknownParts>>;

// The parts of the scores of held-out examples, and those that they have once their own classes are hidden: taken out
// of the head.
struct HeldOutParts {
  Parts known;
  Parts hidden;
  std::vector<float> axes;
};

// The class with the largest logit but for `label`.
std::int32_t best_other_class(std::span<const float> logits, std::int32_t label) {
  const auto own = static_cast<std::size_t>(label);
  std::size_t best = own == 0 ? 1 : 0;
  for (std::size_t c = best + 1; c < logits.size(); ++c) {
    if (c != own && logits[c] > logits[best]) best = c;
  }
  return static_cast<std::int32_t>(best);
}

// `cold` is the factor applied to logits of held-out examples.
HeldOutParts parts_of_held_out(const HoldOut& hold_out, const HeldOutExamples& held, const FeatureTransform& transform,
                               double cold) {
  const int threads = hold_out.recipe.final_training.threads;
  const std::vector<std::int32_t> predicted = predicted_classes(held.logits.view());
  std::vector<std::int32_t> others;
  std::vector<bool> wanted(held.logits.cols(), false);
  for (std::size_t i = 0; i < held.rows.size(); ++i) {
    others.push_back(best_other_class(held.logits.row(i), held.labels[i]));
    for (const std::int32_t label : {predicted[i], others[i], held.labels[i]}) {
      wanted[static_cast<std::size_t>(label)] = true;
    }
  }
  const std::vector<std::size_t> indexed = rows_to_index(hold_out.support.labels, wanted);
  SupportSet support = fetch_support(hold_out.support, indexed);
  const std::vector<std::size_t> places = places_of(held.rows, indexed);
  const SupportIndex index(transform, std::move(support.features), support.labels, threads);
  const auto nearness = index.near_class_without(places, {predicted, others}, threads);
  HeldOutParts parts;
  for (std::size_t i = 0; i < held.rows.size(); ++i) {
    std::vector<float> logits(held.logits.row(i).begin(), held.logits.row(i).end());
    scale_row(std::span<float>(logits), static_cast<float>(cold));
    parts.known.push_back(unknown_parts(logits, nearness[0][i]));
    logits.erase(logits.begin() + held.labels[i]);
    parts.hidden.push_back(unknown_parts(logits, nearness[1][i]));
  }
  parts.axes = spread_axes(index, support.labels, threads);
  return parts;
}

std::vector<float> scores_of(const UnknownRule& rule, const Parts& parts) {
  std::vector<float> scores;
  scores.reserve(parts.size());
  for (const auto& row : parts) scores.push_back(unknown_score(rule, row));
  return scores;
}

UnknownRule learn_rule(HeldOutParts parts, std::span<const OpenSetFold> folds, std::size_t classes) {
  std::array<std::vector<double>, kOpenSetFeatures> open_set_features;
  for (const auto& row : parts.known) {
    const OpenSetFeatures found = open_set_features_in(row);
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j) open_set_features[j].push_back(found[j]);
  }
  OpenSetFeatures weights = learn_open_set_weights(folds, classes);
  for (std::size_t j = 0; j < kOpenSetFeatures; ++j) {
    const double units = deviation(open_set_features[j]);
    weights[j] = units > kLeastSpread ? weights[j] / units : 0.0;
  }
  UnknownRule rule;
  rule.weights = part_weights(weights);
  rule.axes = std::move(parts.axes);
  rule.quantiles = quantiles_of(scores_of(rule, parts.known));
  rule.caught = catch_rates(rule, scores_of(rule, parts.hidden), folds, weights);
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

// Trainings without part of the classes: for the rejection rule, and for synthetic examples when there are few
// examples.
std::vector<ClassFold> plan_folds(const HoldOutPlan& plan, bool knows_known, bool with_rule) {
  if (knows_known) return with_rule ? plan_class_folds(plan) : std::vector<ClassFold>{};
  std::vector<ClassFold> folds = plan_unknown_folds(plan);
  if (!with_rule) folds.resize(folds_for_synthetic_examples(plan, folds));
  return folds;
}

// Open-set features of the trainings that were made, and of those that are still to be made.
std::vector<OpenSetFold> collect_features(HoldOut& hold_out, const HoldOutPlan& plan,
                                          std::vector<ClassTraining>&& trained, std::span<const ClassFold> left,
                                          double temperature) {
  std::vector<OpenSetFold> open_set_features;
  for (const ClassTraining& training : trained) {
    open_set_features.push_back(features_of_unknown(hold_out, training, temperature));
  }
  trained.clear();  // heads and examples may be large
  for (const ClassFold& fold : left) {
    const auto training = train_without_classes(hold_out, plan, fold);
    if (training) open_set_features.push_back(features_of_unknown(hold_out, *training, temperature));
  }
  return open_set_features;
}

// The temperature from the held-out examples and, if there are any, from synthetic examples.
double temperature_of(const HeldOutExamples& held, std::span<const ScoredExamples> synthetic_examples, int threads) {
  std::vector<TemperatureSample> samples{{std::as_const(held.logits).view(), held.labels, held.weights}};
  std::size_t count = 0;
  for (const ScoredExamples& part : synthetic_examples) count += part.labels.size();
  for (const ScoredExamples& part : synthetic_examples) {
    samples.push_back({part.logits.view(), part.labels, {}, kSyntheticWeight / static_cast<double>(count)});
  }
  return best_temperature(samples, threads);
}

}  // namespace

double best_temperature(std::span<const TemperatureSample> samples, int threads) {
  if (std::all_of(samples.begin(), samples.end(), [](const auto& sample) { return sample.labels.empty(); })) return 1.0;
  // Golden-section search: the loss is convex in 1 / t, so it has one minimum in log t, and the penalty is flat beside
  // it.
  const auto loss = [&](double log_temperature) {
    double sum = log_temperature * log_temperature / (2.0 * kPriorDeviation * kPriorDeviation);
    for (const TemperatureSample& sample : samples) sum += loss_at(sample, log_temperature, threads);
    return sum;
  };
  return std::exp(golden_section_minimum(std::log(kColdest), std::log(kHottest), 1e-3, loss));
}

HeldOutQuality quality_of(const Calibration& calibration) {
  std::array<ConfidenceBin, kConfidenceBins> bins{};
  HeldOutQuality quality{calibration.labels.size(), 0.0, 0.0};
  for (std::size_t i = 0; i < quality.examples; ++i) {
    const auto row = calibration.probabilities.row(i);
    const auto best = std::max_element(row.begin(), row.end());
    const bool correct = best - row.begin() == calibration.labels[i];
    add_confidence(bins, static_cast<double>(*best), correct);
    if (correct) quality.accuracy += 1.0 / static_cast<double>(quality.examples);
  }
  quality.calibration_error = expected_calibration_error(bins) / 100.0;
  return quality;
}

double logit_growth(double rho, double fewer, double shots) {
  const auto reached = [rho](double k) { return k * rho / (1.0 + (k - 1.0) * rho); };
  return reached(shots) / reached(fewer);
}

Calibration calibrate(const SupportSet& support, const FitResult& fit, const Recipe& recipe,
                      const ProgressCallback& progress, std::span<const float> weights, bool with_rule) {
  const std::size_t classes = all_classes(*recipe.final_training.layout, fit.head.classes());
  const HoldOutPlan plan = plan_hold_out(support, classes, recipe.final_training.seed);
  Calibration result;
  const bool holds_out = plan.folds >= 2;
  const auto held_out = static_cast<std::size_t>(
      std::count_if(plan.fold.begin(), plan.fold.end(), [&](std::size_t fold) { return fold < plan.held_out_folds; }));
  const bool knows_known = holds_out && held_out >= kLeastHeldOut * (lacks_pairs(recipe, plan) ? 2 : 1);
  const std::vector<ClassFold> class_folds = plan_folds(plan, knows_known, with_rule);
  Recipe at_radius = recipe;
  at_radius.epsilon = fit.epsilon;
  if (fit.metric.examples > 0) at_radius.metric.strength = fit.metric.strength;
  HoldOut hold_out{support, weights, at_radius, progress, (holds_out ? plan.held_out_folds : 0) + class_folds.size()};
  HeldOutExamples held;
  if (holds_out) held = hold_out_examples(hold_out, plan);
  const int threads = recipe.final_training.threads;
  const std::size_t with_synthetic_examples = knows_known ? 0 : folds_for_synthetic_examples(plan, class_folds);
  std::vector<ClassTraining> trainings;  // that score synthetic examples
  for (const ClassFold& fold : std::span(class_folds).first(with_synthetic_examples)) {
    if (auto training = train_without_classes(hold_out, plan, fold)) trainings.push_back(std::move(*training));
  }
  const double held_out_temperature =
      temperature_of(held, score_synthetic_examples(hold_out, trainings, kSyntheticExamples), threads);
  const double growth = holds_out ? growth_of_logits(support, fit.head.transform, plan, held_out, threads) : 1.0;
  result.temperature = held_out_temperature / growth;
  if (with_rule) {
    const auto folds = collect_features(hold_out, plan, std::move(trainings),
                                        std::span(class_folds).subspan(with_synthetic_examples), held_out_temperature);
    result.unknown =
        knows_known ? learn_rule(parts_of_held_out(hold_out, held, fit.head.transform, growth / result.temperature),
                                 folds, classes)
                    : rule_from_unknown(folds, classes);
    if (!knows_known && holds_out && !result.unknown.empty()) {
      result.unknown.axes = axes_of_all(support, fit.head.transform, plan, threads);
    }
  }
  if (!holds_out) return result;
  to_probabilities(held.logits.view(), held_out_temperature);
  result.probabilities = std::move(held.logits);
  result.labels = std::move(held.labels);
  return result;
}

}  // namespace annulus
