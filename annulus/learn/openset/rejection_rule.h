// The rule by which a model rejects unknown inputs: how six parts make a score, and the quantiles of the scores of
// known classes.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace annulus {

// The parts of a score. Logits are centred first, because their mean does not affect a softmax and differs between
// trainings, and divided by the model's temperature.
enum UnknownPart : std::size_t {
  kLargestLogit,
  kRunnerUpLogit,
  kLogSumExp,      // log of the sum of exp(logit)
  kNearestCosine,  // of the transformed row and the nearest transformed support example of the predicted class
  // With m the mean of those examples, scaled to unit length, and u the transformed row: u . m + |axes (u - m)|^2 / 2,
  // which is 1 minus half the squared distance, with differences weighted less in directions in which classes vary.
  kClassCloseness,
  kNearestCloseness,  // the same with the nearest of those examples, by this measure, in place of m
};
inline constexpr std::size_t kUnknownParts = 6;
// Files may have fewer parts: a missing last part has weight 0. Rules with only this many parts are obsolete.
inline constexpr std::size_t kFirstUnknownParts = 4;

inline constexpr std::size_t kUnknownQuantiles = 101;

struct UnknownRule {
  std::array<float, kUnknownParts> weights{};  // score = sum of weight times part; larger scores are better known
  std::vector<float> axes;  // of class_spread_axes, concatenated, each as long as a feature row; may be empty
  std::vector<float>
      quantiles;  // of the scores of known classes: entry i is above i % of them; empty: nothing is rejected
  // The catch rate, as estimated: the fraction of inputs of unknown classes that is rejected at each of these
  // quantiles; empty: not known.
  std::vector<float> caught{};

  bool empty() const { return quantiles.empty(); }
};

// The score below which a row is rejected at a false-rejection rate of `fraction` (0 to 1), interpolated between two
// quantiles. At 0 nothing is rejected: minus infinity. The rule must not be empty.
float unknown_threshold(const UnknownRule& rule, double fraction);

// The estimated fraction of inputs of unknown classes, like none of the known ones but of the same kind, that is
// rejected at a false-rejection rate of `fraction`; empty where it is not known.
std::optional<double> unknown_catch_rate(const UnknownRule& rule, double fraction);

}  // namespace annulus
