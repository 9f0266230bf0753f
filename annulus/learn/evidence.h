// How much each kind of evidence for a known thing counts, learnt from things that were known and things that were not.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "annulus/learn/unknown_rule.h"

namespace annulus {

// What speaks for a thing being known: the larger, the more.
enum EvidenceKind : std::size_t {
  kLogConfidence,  // logarithm of the largest probability
  kLead,           // of the largest logit above the mean of all
  kRowCosine,      // of the nearest training row of the class that is named
  kRowCloseness,   // to the closest of these rows
  kCloseness,      // to their mean
};
inline constexpr std::size_t kEvidenceKinds = 5;
using Evidence = std::array<double, kEvidenceKinds>;

// The evidence in the parts of a score, and the weights of those parts that make a score of weights of evidence.
Evidence evidence_in(const std::array<float, kUnknownParts>& parts);
std::array<float, kUnknownParts> part_weights(const Evidence& weights);

// What one head says about rows of classes that it knows and of classes that it does not; it was trained on neither.
struct EvidenceTurn {
  std::vector<Evidence> known;
  std::vector<Evidence> strange;
};

// Weights of 0 or more, each for evidence in units of its spread among known things. They minimise the logistic loss of
// telling known from strange, both sides of a turn counting the same, plus kPriorRows / 2 times the squared distance to
// prior_weights: with a handful of rows the prior decides, with thousands the rows do.
Evidence learn_evidence_weights(std::span<const EvidenceTurn> turns, std::size_t classes);

// Among few classes every head is sure of a stranger, and distances tell it; among many it lies between several, and
// probabilities do.
Evidence prior_weights(std::size_t classes);

// A rule from strangers alone, for rows of which none could be held out as known: the nearest row by both measures, the
// closeness to the mean, and log p_max with a weight that grows with the number of classes, each in units of its spread
// among the strangers. The quantiles are those of the strangers. A known thing has its own class to be near to besides
// all that a stranger has, so that no more known things than strangers score below a threshold: shares are bounds.
// Empty where there are fewer than kLeastStrangers.
UnknownRule rule_from_strangers(std::span<const EvidenceTurn> turns, std::size_t classes);

inline constexpr std::size_t kLeastStrangers = 5;
inline constexpr double kManyClasses = 300.0;  // for which log p_max counts half as much as for very many

// Score number i of n in order has (i + 1) / (n + 1) of all scores to come below it, on average: by that the
// kUnknownQuantiles of a rule, of two scores or more.
std::vector<float> quantiles_of(std::vector<float> scores);

// Round numbers that did well on the sets of docs/unknown.md.
inline constexpr double kPriorRows = 120.0;

}  // namespace annulus
