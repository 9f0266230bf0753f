// Logistic regression with bounds, one weight after the other.
#include "annulus/learn/evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace annulus {
namespace {

constexpr int kMostSweeps = 500;
constexpr double kSettled = 1e-7;
constexpr double kLeastEvidenceSpread = 1e-9;

struct Observation {
  Evidence evidence;  // less the mean of what is known in its turn, in units of spread
  double known = 0.0;
  double weight = 0.0;
};

Evidence mean_evidence(const std::vector<Evidence>& rows) {
  Evidence mean{};
  for (const Evidence& row : rows) {
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) mean[j] += row[j] / static_cast<double>(rows.size());
  }
  return mean;
}

bool is_usable(const EvidenceTurn& turn) { return turn.known.size() > 1 && !turn.strange.empty(); }

// The deviation of what is known about the mean of its turn.
Evidence spread_within(std::span<const EvidenceTurn> turns) {
  Evidence squares{};
  double freedom = 0.0;
  for (const EvidenceTurn& turn : turns) {
    if (!is_usable(turn)) continue;
    const Evidence mean = mean_evidence(turn.known);
    for (const Evidence& row : turn.known) {
      for (std::size_t j = 0; j < kEvidenceKinds; ++j) squares[j] += (row[j] - mean[j]) * (row[j] - mean[j]);
    }
    freedom += static_cast<double>(turn.known.size() - 1);
  }
  Evidence spread{};
  for (std::size_t j = 0; j < kEvidenceKinds; ++j) spread[j] = std::sqrt(squares[j] / std::max(freedom, 1.0));
  return spread;
}

std::vector<Observation> observe(std::span<const EvidenceTurn> turns) {
  const Evidence spread = spread_within(turns);
  std::vector<Observation> observations;
  for (const EvidenceTurn& turn : turns) {
    if (!is_usable(turn)) continue;
    const Evidence mean = mean_evidence(turn.known);
    const auto fewer = static_cast<double>(std::min(turn.known.size(), turn.strange.size()));
    const auto add = [&](const std::vector<Evidence>& rows, double known) {
      for (const Evidence& row : rows) {
        Observation observation{{}, known, fewer / static_cast<double>(rows.size())};
        for (std::size_t j = 0; j < kEvidenceKinds; ++j) {
          observation.evidence[j] = spread[j] > kLeastEvidenceSpread ? (row[j] - mean[j]) / spread[j] : 0.0;
        }
        observations.push_back(observation);
      }
    };
    add(turn.known, 1.0);
    add(turn.strange, 0.0);
  }
  return observations;
}

// From 0 for few classes to 1 for very many.
double share_of_many(std::size_t classes) {
  return static_cast<double>(classes) / (static_cast<double>(classes) + kManyClasses);
}

}  // namespace

Evidence evidence_in(const std::array<float, kUnknownParts>& parts) {
  const auto largest = static_cast<double>(parts[kLargestLogit]);
  return {largest - static_cast<double>(parts[kLogSumExp]), largest, static_cast<double>(parts[kNearestCosine]),
          static_cast<double>(parts[kNearestCloseness]), static_cast<double>(parts[kClassCloseness])};
}

std::array<float, kUnknownParts> part_weights(const Evidence& weights) {
  return {static_cast<float>(weights[kLogConfidence] + weights[kLead]),
          0.0F,
          static_cast<float>(-weights[kLogConfidence]),
          static_cast<float>(weights[kRowCosine]),
          static_cast<float>(weights[kCloseness]),
          static_cast<float>(weights[kRowCloseness])};
}

Evidence prior_weights(std::size_t classes) {
  const double many = share_of_many(classes);
  Evidence weights{};
  weights[kLogConfidence] = 0.4 * many;
  weights[kRowCosine] = 0.1 * (1.0 - many);
  weights[kRowCloseness] = 0.1 * (1.0 - many);
  weights[kCloseness] = 0.3;
  return weights;
}

Evidence learn_evidence_weights(std::span<const EvidenceTurn> turns, std::size_t classes) {
  const std::vector<Observation> observations = observe(turns);
  const Evidence prior = prior_weights(classes);
  Evidence weights = prior;
  if (observations.empty()) return weights;
  // The logistic loss bends by a quarter at most: steps by that bound never go too far.
  Evidence bend{};
  double weight_sum = 0.0;
  for (const Observation& row : observations) {
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) bend[j] += row.weight * row.evidence[j] * row.evidence[j] / 4.0;
    weight_sum += row.weight;
  }
  double intercept = 0.0;
  std::vector<double> scores;
  scores.reserve(observations.size());
  for (const Observation& row : observations) {
    double score = 0.0;
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) score += weights[j] * row.evidence[j];
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
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) {
      const double gradient =
          slope([j](const Observation& row) { return row.evidence[j]; }) + kPriorRows * (weights[j] - prior[j]);
      const double next = std::max(0.0, weights[j] - gradient / (bend[j] + kPriorRows));
      const double change = next - weights[j];
      weights[j] = next;
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += change * observations[i].evidence[j];
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
    const double share = static_cast<double>(i) / static_cast<double>(kUnknownQuantiles - 1);
    const double place = share * (count + 1.0) - 1.0;
    const auto below = static_cast<std::size_t>(std::clamp(std::floor(place), 0.0, count - 2.0));
    const auto part = static_cast<float>(place - static_cast<double>(below));  // below 0 and above 1 at the ends
    quantiles.push_back(scores[below] + part * (scores[below + 1] - scores[below]));
  }
  // Rounding may turn equal neighbours round.
  for (std::size_t i = 1; i < quantiles.size(); ++i) quantiles[i] = std::max(quantiles[i], quantiles[i - 1]);
  return quantiles;
}

UnknownRule rule_from_strangers(std::span<const EvidenceTurn> turns, std::size_t classes) {
  std::vector<Evidence> strangers;
  for (const EvidenceTurn& turn : turns) strangers.insert(strangers.end(), turn.strange.begin(), turn.strange.end());
  if (strangers.size() < kLeastStrangers) return {};
  Evidence weights{};
  weights[kLogConfidence] = share_of_many(classes);
  weights[kRowCosine] = 0.25;
  weights[kRowCloseness] = 0.25;
  weights[kCloseness] = 0.5;
  const Evidence mean = mean_evidence(strangers);
  for (std::size_t j = 0; j < kEvidenceKinds; ++j) {
    double squares = 0.0;
    for (const Evidence& row : strangers) squares += (row[j] - mean[j]) * (row[j] - mean[j]);
    const double spread = std::sqrt(squares / static_cast<double>(strangers.size() - 1));
    weights[j] = spread > kLeastEvidenceSpread ? weights[j] / spread : 0.0;
  }
  UnknownRule rule;
  rule.weights = part_weights(weights);
  std::vector<float> scores;
  scores.reserve(strangers.size());
  for (const Evidence& row : strangers) {
    double score = 0.0;
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) score += weights[j] * row[j];
    scores.push_back(static_cast<float>(score));
  }
  rule.quantiles = quantiles_of(std::move(scores));
  return rule;
}

}  // namespace annulus
