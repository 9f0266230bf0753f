// TrainingMatch: finds examples that a model was trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "annulus/learn/model/support_set.h"

namespace annulus {

// Knows the training examples that a model keeps, by their features.
class TrainingMatch {
 public:
  explicit TrainingMatch(const SupportSet& support);

  bool empty() const { return known_.empty(); }
  // Whether the features of a row, scaled and rounded as support sets are, are those of a training example.
  bool contains(std::span<const float> row);

 private:
  std::unordered_set<std::size_t> known_;  // hashes of the rows in half precision
  std::vector<float> scaled_;
  std::vector<std::uint16_t> half_;
};

}  // namespace annulus
