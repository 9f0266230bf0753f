// Episodes: small tasks of a few classes, sampled from a set whose classes were not used for training the backbone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "annulus/task/feature_set.h"

namespace annulus {

struct EpisodeShape {
  std::size_t ways = 5;      // classes
  std::size_t shots = 1;     // training examples per class
  std::size_t queries = 15;  // query examples per class
};

// Row numbers of one episode, class by class: class c of the episode has support examples [c * shots, (c + 1) * shots)
// and query examples [c * queries, (c + 1) * queries).
struct Episode {
  std::vector<std::uint32_t> support;
  std::vector<std::uint32_t> query;
};

// Samples episodes from all examples of a labelled set; safe for concurrent calls.
class EpisodeSampler {
 public:
  // Throws Error{kInput} when fewer than shape.ways classes have shape.shots + shape.queries examples, and
  // Error{kUsage} for a shape without classes, shots or queries.
  EpisodeSampler(const FeatureSet& set, const EpisodeShape& shape);

  // Episode number `number` of a seed; a pure function of (set, shape, seed, number). Classes and examples are sampled
  // uniformly without replacement. Where the set has groups, groups are, and one example of each is taken.
  Episode draw(std::uint64_t seed, std::uint32_t number) const;

 private:
  EpisodeShape shape_;
  using Groups = std::vector<std::vector<std::uint32_t>>;  // the examples of each
  std::vector<Groups> classes_;                            // those with enough groups
};

}  // namespace annulus
