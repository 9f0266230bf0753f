// Partial sort of class probabilities.
#include "annulus/learn/model/ranking.h"

#include <algorithm>
#include <cstdint>

namespace annulus {

std::vector<RankedClass> most_probable(std::span<const float> probabilities, std::size_t count) {
  std::vector<RankedClass> ranked(probabilities.size());
  for (std::size_t i = 0; i < ranked.size(); ++i) ranked[i] = {static_cast<std::int32_t>(i), probabilities[i]};
  count = std::min(count, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
                    [](const RankedClass& a, const RankedClass& b) {
                      return a.probability != b.probability ? a.probability > b.probability : a.index < b.index;
                    });
  ranked.resize(count);
  return ranked;
}

}  // namespace annulus
