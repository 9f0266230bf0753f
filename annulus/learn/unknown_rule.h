// The rule by which a model knows strangers: how six numbers of a row become a score, and which scores known things
// have.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace annulus {

// What a score is made of. From the logits their mean is subtracted first, which a softmax does not see and which is
// not the same for heads of different trainings, and they are divided by the model's temperature.
enum UnknownPart : std::size_t {
  kLargestLogit,
  kRunnerUpLogit,
  kLogSumExp,      // log of the sum of exp(logit)
  kNearestCosine,  // of the conditioned row and the nearest conditioned support row of the class it is named
  // With m the mean of those rows, scaled to length 1, and u the conditioned row: u . m + |axes (u - m)|^2 / 2, which
  // is 1 less half the squared distance, differences counting less in directions in which classes spread.
  kClassCloseness,
  kNearestCloseness,  // the same with the nearest of those rows, by this measure, in the place of m
};
inline constexpr std::size_t kUnknownParts = 6;
// Files may have fewer: without the last part it counts nothing, and with so few the rule is one that is not used any
// more.
inline constexpr std::size_t kFirstUnknownParts = 4;

inline constexpr std::size_t kUnknownQuantiles = 101;

struct UnknownRule {
  std::array<float, kUnknownParts> weights{};  // score = sum of weight times part: the larger, the better known
  std::vector<float> axes;  // as of class_spread_axes, one after the other, each as long as a feature row; may be none
  std::vector<float> quantiles;  // of scores of known things: number i is above i % of them; empty: nothing is refused

  bool empty() const { return quantiles.empty(); }
};

// The score below which a row is refused when a share of 0 to 1 of known things may be; between two quantiles it is
// interpolated. At 0 nothing is refused: minus infinity. The rule is not empty.
float unknown_threshold(const UnknownRule& rule, double share);

}  // namespace annulus
