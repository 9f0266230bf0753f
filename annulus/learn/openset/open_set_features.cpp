// Logistic regression with bounds, by coordinate descent.
#include "annulus/learn/openset/open_set_features.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace annulus {
namespace {

constexpr int kMostSweeps = 500;
constexpr double kSettled = 1e-7;
constexpr double kLeastFeatureSpread = 1e-9;

struct Observation {
  OpenSetFeatures open_set_features;  // minus the mean of the known examples of its fold, in units of spread
  double known = 0.0;
  double weight = 0.0;
};

OpenSetFeatures mean_features(const std::vector<OpenSetFeatures>& rows) {
  OpenSetFeatures mean{};
  for (const OpenSetFeatures& row : rows) {
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j) mean[j] += row[j] / static_cast<double>(rows.size());
  }
  return mean;
}

bool is_usable(const OpenSetFold& fold) { return fold.known.size() > 1 && !fold.unknown.empty(); }

// The standard deviation of the known examples about the mean of their fold.
OpenSetFeatures spread_within(std::span<const OpenSetFold> folds) {
  OpenSetFeatures squares{};
  double freedom = 0.0;
  for (const OpenSetFold& fold : folds) {
    if (!is_usable(fold)) continue;
    const OpenSetFeatures mean = mean_features(fold.known);
    for (const OpenSetFeatures& row : fold.known) {
      for (std::size_t j = 0; j < kOpenSetFeatures; ++j) squares[j] += (row[j] - mean[j]) * (row[j] - mean[j]);
    }
    freedom += static_cast<double>(fold.known.size() - 1);
  }
  OpenSetFeatures spread{};
  for (std::size_t j = 0; j < kOpenSetFeatures; ++j) spread[j] = std::sqrt(squares[j] / std::max(freedom, 1.0));
  return spread;
}

std::vector<Observation> observe(std::span<const OpenSetFold> folds) {
  const OpenSetFeatures spread = spread_within(folds);
  std::vector<Observation> observations;
  for (const OpenSetFold& fold : folds) {
    if (!is_usable(fold)) continue;
    const OpenSetFeatures mean = mean_features(fold.known);
    const auto fewer = static_cast<double>(std::min(fold.known.size(), fold.unknown.size()));
    const auto add = [&](const std::vector<OpenSetFeatures>& rows, double known) {
      for (const OpenSetFeatures& row : rows) {
        Observation observation{{}, known, fewer / static_cast<double>(rows.size())};
        for (std::size_t j = 0; j < kOpenSetFeatures; ++j) {
          observation.open_set_features[j] = spread[j] > kLeastFeatureSpread ? (row[j] - mean[j]) / spread[j] : 0.0;
        }
        observations.push_back(observation);
      }
    };
    add(fold.known, 1.0);
    add(fold.unknown, 0.0);
  }
  return observations;
}

// From 0 for few classes to 1 for very many.
double fraction_of_many(std::size_t classes) {
  return static_cast<double>(classes) / (static_cast<double>(classes) + kManyClasses);
}

}  // namespace

OpenSetFeatures open_set_features_in(const std::array<float, kUnknownParts>& parts) {
  const auto largest = static_cast<double>(parts[kLargestLogit]);
  return {largest - static_cast<double>(parts[kLogSumExp]), largest, static_cast<double>(parts[kNearestCosine]),
          static_cast<double>(parts[kNearestCloseness]), static_cast<double>(parts[kClassCloseness])};
}

std::array<float, kUnknownParts> part_weights(const OpenSetFeatures& weights) {
  return {static_cast<float>(weights[kLogConfidence] + weights[kLead]),
          0.0F,
          static_cast<float>(-weights[kLogConfidence]),
          static_cast<float>(weights[kRowCosine]),
          static_cast<float>(weights[kCloseness]),
          static_cast<float>(weights[kRowCloseness])};
}

OpenSetFeatures prior_weights(std::size_t classes) {
  const double many = fraction_of_many(classes);
  OpenSetFeatures weights{};
  weights[kLogConfidence] = 0.4 * many;
  weights[kRowCosine] = 0.1 * (1.0 - many);
  weights[kRowCloseness] = 0.1 * (1.0 - many);
  weights[kCloseness] = 0.3;
  return weights;
}

OpenSetFeatures learn_open_set_weights(std::span<const OpenSetFold> folds, std::size_t classes) {
  const std::vector<Observation> observations = observe(folds);
  const OpenSetFeatures prior = prior_weights(classes);
  OpenSetFeatures weights = prior;
  if (observations.empty()) return weights;
  // The second derivative of the logistic loss is at most a quarter: steps with that bound never overshoot.
  OpenSetFeatures bend{};
  double weight_sum = 0.0;
  for (const Observation& row : observations) {
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j)
      bend[j] += row.weight * row.open_set_features[j] * row.open_set_features[j] / 4.0;
    weight_sum += row.weight;
  }
  double intercept = 0.0;
  std::vector<double> scores;
  scores.reserve(observations.size());
  for (const Observation& row : observations) {
    double score = 0.0;
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j) score += weights[j] * row.open_set_features[j];
    scores.push_back(score);
  }
  const auto slope = [&](const auto& factor) {
    double sum = 0.0;
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const double probability = 1.0 / (1.0 + std::exp(-scores[i] - intercept));
      sum += observations[i].weight * (probability - observations[i].known) * factor(observations[i]);
    }
    return sum;
  };
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const double step = slope([](const Observation&) { return 1.0; }) / (weight_sum / 4.0);
    intercept -= step;
    double largest = std::fabs(step);
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j) {
      const double gradient = slope([j](const Observation& row) { return row.open_set_features[j]; }) +
                              kPriorRows * (weights[j] - prior[j]);
      const double next = std::max(0.0, weights[j] - gradient / (bend[j] + kPriorRows));
      const double change = next - weights[j];
      weights[j] = next;
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += change * observations[i].open_set_features[j];
      largest = std::max(largest, std::fabs(change));
    }
    if (largest < kSettled) break;
  }
  return weights;
}

std::vector<float> quantiles_of(std::vector<float> scores) {
  std::sort(scores.begin(), scores.end());
  const auto count = static_cast<double>(scores.size());
  std::vector<float> quantiles;
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(kUnknownQuantiles - 1);
    const double place = fraction * (count + 1.0) - 1.0;
    const auto below = static_cast<std::size_t>(std::clamp(std::floor(place), 0.0, count - 2.0));
    const auto part = static_cast<float>(place - static_cast<double>(below));  // below 0 or above 1 at the ends
    quantiles.push_back(scores[below] + part * (scores[below + 1] - scores[below]));
  }
  // Rounding may swap equal neighbours.
  for (std::size_t i = 1; i < quantiles.size(); ++i) quantiles[i] = std::max(quantiles[i], quantiles[i - 1]);
  return quantiles;
}

std::vector<float> weighted_scores(std::span<const OpenSetFeatures> rows, const OpenSetFeatures& weights) {
  std::vector<float> scores;
  scores.reserve(rows.size());
  for (const OpenSetFeatures& row : rows) {
    double score = 0.0;
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j) score += weights[j] * row[j];
    scores.push_back(static_cast<float>(score));
  }
  return scores;
}

UnknownRule rule_from_unknown(std::span<const OpenSetFold> folds, std::size_t classes) {
  std::vector<OpenSetFeatures> unknown_inputs;
  for (const OpenSetFold& fold : folds)
    unknown_inputs.insert(unknown_inputs.end(), fold.unknown.begin(), fold.unknown.end());
  if (unknown_inputs.size() < kLeastUnknown) return {};
  OpenSetFeatures weights{};
  weights[kLogConfidence] = fraction_of_many(classes);
  weights[kRowCosine] = 0.25;
  weights[kRowCloseness] = 0.25;
  weights[kCloseness] = 0.5;
  const OpenSetFeatures mean = mean_features(unknown_inputs);
  for (std::size_t j = 0; j < kOpenSetFeatures; ++j) {
    double squares = 0.0;
    for (const OpenSetFeatures& row : unknown_inputs) squares += (row[j] - mean[j]) * (row[j] - mean[j]);
    const double spread = std::sqrt(squares / static_cast<double>(unknown_inputs.size() - 1));
    weights[j] = spread > kLeastFeatureSpread ? weights[j] / spread : 0.0;
  }
  UnknownRule rule;
  rule.weights = part_weights(weights);
  rule.quantiles = quantiles_of(weighted_scores(unknown_inputs, weights));
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) {
    rule.caught.push_back(static_cast<float>(i) / static_cast<float>(kUnknownQuantiles - 1));
  }
  return rule;
}

}  // namespace annulus
