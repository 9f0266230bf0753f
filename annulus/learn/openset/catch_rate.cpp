// Fractions of scores below quantiles of others.
#include "annulus/learn/openset/catch_rate.h"

#include <algorithm>

namespace annulus {
namespace {

// The fraction of the scores below each of the ascending thresholds.
std::vector<double> fractions_below(std::vector<float> scores, std::span<const float> thresholds) {
  std::sort(scores.begin(), scores.end());
  std::vector<double> fractions;
  for (const float threshold : thresholds) {
    const auto below = std::lower_bound(scores.begin(), scores.end(), threshold) - scores.begin();
    fractions.push_back(static_cast<double>(below) / static_cast<double>(scores.size()));
  }
  return fractions;
}

}  // namespace

std::vector<float> catch_rates(const UnknownRule& rule, std::span<const float> hidden_scores,
                               std::span<const OpenSetFold> folds, const OpenSetFeatures& weights) {
  std::vector<double> in_folds(rule.quantiles.size(), 0.0);
  double count = 0.0;
  for (const OpenSetFold& fold : folds) {
    if (fold.known.size() < 2 || fold.unknown.empty()) continue;
    const std::vector<float> thresholds = quantiles_of(weighted_scores(fold.known, weights));
    const std::vector<double> caught = fractions_below(weighted_scores(fold.unknown, weights), thresholds);
    for (std::size_t i = 0; i < in_folds.size(); ++i) in_folds[i] += caught[i];
    count += 1.0;
  }
  std::vector<float> rates;
  if (hidden_scores.empty() || count == 0.0) return rates;
  const std::vector<double> hidden = fractions_below({hidden_scores.begin(), hidden_scores.end()}, rule.quantiles);
  rates.reserve(hidden.size());
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    rates.push_back(static_cast<float>(std::min(hidden[i], in_folds[i] / count)));
  }
  return rates;
}

}  // namespace annulus
