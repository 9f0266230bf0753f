// Episodes: small tasks of a few classes, sampled from a set whose classes were not used for training the backbone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "annulus/task/feature_set.h"
#include "annulus/task/query_balance.h"

namespace annulus {

struct EpisodeShape {
  std::size_t ways = 5;      // classes
  std::size_t shots = 1;     // training examples per class
  std::size_t queries = 15;  // query examples per class; on average where they are not balanced
  QueryBalance balance{};
};

// Row numbers of one episode, class by class: class c of the episode has support examples [c * shots, (c + 1) * shots),
// and its query_counts[c] query examples follow those of the classes before it.
struct Episode {
  std::vector<std::uint32_t> support;
  std::vector<std::uint32_t> query;
  std::vector<std::size_t> query_counts;  // per class of the episode; they sum to ways * queries
};

// Samples episodes from all examples of a labelled set; safe for concurrent calls.
class EpisodeSampler {
 public:
  // Throws Error{kInput} when fewer than shape.ways classes have shape.shots + shape.queries examples, and
  // Error{kUsage} for a shape without classes, shots or queries.
  EpisodeSampler(const FeatureSet& set, const EpisodeShape& shape);

  // Episode number `number` of a seed; a pure function of (set, shape, seed, number). Classes and examples are sampled
  // uniformly without replacement. Where the set has groups, groups are, and one example of each is taken. Where
  // queries are not balanced, a class has no more of them than it has examples beside its shots: the others have more
  // then.
  Episode draw(std::uint64_t seed, std::uint32_t number) const;

 private:
  EpisodeShape shape_;
  using Groups = std::vector<std::vector<std::uint32_t>>;  // the examples of each
  std::vector<Groups> classes_;                            // those with enough groups
};

}  // namespace annulus
