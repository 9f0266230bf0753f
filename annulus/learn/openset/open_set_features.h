// The weights of the open-set features, learnt from examples of known and of unknown classes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "annulus/learn/openset/rejection_rule.h"

namespace annulus {

// Features of an input; larger values mean that it is more likely of a known class.
enum OpenSetFeature : std::size_t {
  kLogConfidence,  // log of the largest probability
  kLead,           // largest logit minus the mean of all
  kRowCosine,      // to the nearest training example of the predicted class
  kRowCloseness,   // to the closest of these examples
  kCloseness,      // to their mean
};
inline constexpr std::size_t kOpenSetFeatures = 5;
using OpenSetFeatures = std::array<double, kOpenSetFeatures>;

// The open-set features as functions of the parts of a score, and the weights of the parts that follow from weights of
// the open-set features.
OpenSetFeatures open_set_features_in(const std::array<float, kUnknownParts>& parts);
std::array<float, kUnknownParts> part_weights(const OpenSetFeatures& weights);

// The open-set features of one head for examples of classes that it knows and of classes that it does not; it was
// trained on none of these examples.
struct OpenSetFold {
  std::vector<OpenSetFeatures> known;
  std::vector<OpenSetFeatures> unknown;
};

// Non-negative weights, each for an open-set feature in units of its spread among known classes. They minimise the
// logistic loss of separating known from unknown examples, both sides of a fold weighted equally, plus kPriorRows / 2
// times the squared distance to prior_weights: with few examples the prior dominates, with thousands the examples do.
OpenSetFeatures learn_open_set_weights(std::span<const OpenSetFold> folds, std::size_t classes);

// The weighted sum of the open-set features of each row.
std::vector<float> weighted_scores(std::span<const OpenSetFeatures> rows, const OpenSetFeatures& weights);

// With few classes a head is confident about every unknown input, and distances detect it; with many classes an unknown
// input lies between several of them, and probabilities detect it.
OpenSetFeatures prior_weights(std::size_t classes);

// A rule from unknown inputs alone, for sets of which no known example could be held out: the nearest example by both
// measures, the closeness to the mean, and log p_max with a weight that increases with the number of classes, each in
// units of its spread among the unknown inputs. The quantiles are those of the unknown inputs, so that the catch rate
// is the fraction asked for. An input of a known class is also close to its own class, so the fraction of known inputs
// below a threshold is at most that of unknown inputs: the false-rejection rates are upper bounds. Empty with fewer
// than kLeastUnknown.
UnknownRule rule_from_unknown(std::span<const OpenSetFold> folds, std::size_t classes);

inline constexpr std::size_t kLeastUnknown = 5;
inline constexpr double kManyClasses = 300.0;  // for which log p_max has half the weight it has for very many

// The kUnknownQuantiles quantiles of two scores or more. Score i of n in ascending order is taken as the quantile (i +
// 1) / (n + 1), the expected fraction of future scores below it.
std::vector<float> quantiles_of(std::vector<float> scores);

// A round value that did well on the sets of docs/explanation/open-set.md.
inline constexpr double kPriorRows = 120.0;

}  // namespace annulus
