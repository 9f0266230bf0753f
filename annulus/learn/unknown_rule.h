// The rule by which a model knows strangers: how four numbers of a row become a score, and which scores known things
// have.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace annulus {

// What a score is made of. Logits are divided by the model's temperature first.
enum UnknownPart : std::size_t {
  kLargestLogit,
  kRunnerUpLogit,
  kLogSumExp,      // log of the sum of exp(logit)
  kNearestCosine,  // of the conditioned row and the conditioned support row nearest to it
};
inline constexpr std::size_t kUnknownParts = 4;

inline constexpr std::size_t kUnknownQuantiles = 101;

struct UnknownRule {
  std::array<float, kUnknownParts> weights{};  // score = sum of weight times part: the larger, the better known
  std::vector<float> quantiles;  // of scores of known things: number i is above i % of them; empty: nothing is refused

  bool empty() const { return quantiles.empty(); }
};

// The score below which a row is refused when a share of 0 to 1 of known things may be; between two quantiles it is
// interpolated. At 0 nothing is refused: minus infinity. The rule is not empty.
float unknown_threshold(const UnknownRule& rule, double share);

}  // namespace annulus
