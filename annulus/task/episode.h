// Episodes: small tasks of a few classes, drawn from a set whose classes were never trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "annulus/task/feature_set.h"

namespace annulus {

struct EpisodeShape {
  std::size_t ways = 5;      // classes
  std::size_t shots = 1;     // rows a class to learn from
  std::size_t queries = 15;  // rows a class to be recognised
};

// Row numbers of one episode, class after class: class c of the episode has support rows [c * shots, (c + 1) * shots)
// and query rows [c * queries, (c + 1) * queries).
struct Episode {
  std::vector<std::uint32_t> support;
  std::vector<std::uint32_t> query;
};

// Draws episodes from all rows of a labelled set; safe for concurrent calls.
class EpisodeSampler {
 public:
  // Throws Error{kInput} when fewer than shape.ways classes have shape.shots + shape.queries rows, and Error{kUsage}
  // for a shape without classes, shots or queries.
  EpisodeSampler(const FeatureSet& set, const EpisodeShape& shape);

  // Episode number `number` of a seed; a pure function of (set, shape, seed, number). Classes and rows are drawn
  // without repetition, every choice equally likely.
  Episode draw(std::uint64_t seed, std::uint32_t number) const;

 private:
  EpisodeShape shape_;
  std::vector<std::vector<std::uint32_t>> rows_;  // of each class that has enough of them
};

}  // namespace annulus
