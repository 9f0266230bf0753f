// Samples episodes without replacement, by rejection: a few out of many.
#include "annulus/task/episode.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/random.h"

namespace annulus {
namespace {

constexpr std::uint64_t kBalanceNumbers = std::uint64_t{1} << 40;  // of a stream, from here on

// `count` different numbers below `bound`, in random order; `used` counts the random numbers used so far.
std::vector<std::uint32_t> draw_distinct(const RandomStream& stream, std::uint64_t& used, std::size_t bound,
                                         std::size_t count) {
  std::vector<std::uint32_t> drawn;
  if (2 * count > bound) {  // rejection would take long: shuffle instead
    for (std::uint32_t number = 0; number < bound; ++number) drawn.push_back(number);
    for (std::size_t i = 0; i < count; ++i) std::swap(drawn[i], drawn[i + stream.below(used++, bound - i)]);
    drawn.resize(count);
    return drawn;
  }
  drawn.reserve(count);
  while (drawn.size() < count) {
    const auto number = static_cast<std::uint32_t>(stream.below(used++, bound));
    if (std::find(drawn.begin(), drawn.end(), number) == drawn.end()) drawn.push_back(number);
  }
  return drawn;
}

}  // namespace

EpisodeSampler::EpisodeSampler(const FeatureSet& set, const EpisodeShape& shape) : shape_(shape) {
  if (shape.ways < 2 || shape.shots == 0 || shape.queries == 0) {
    fail(ErrorKind::kUsage, "expected episodes of at least 2 ways, 1 shot and 1 query, found {}, {} and {}", shape.ways,
         shape.shots, shape.queries);
  }
  if (!set.labelled()) {
    fail(ErrorKind::kInput, "{}: expected labels to draw episodes from, found only features", set.source());
  }
  std::vector<std::vector<std::uint32_t>> by_class(set.classes());
  for (std::uint32_t i = 0; i < set.rows(); ++i) by_class[static_cast<std::size_t>(set.labels()[i])].push_back(i);
  const std::size_t needed = shape.shots + shape.queries;
  for (const auto& rows : by_class) {
    Groups groups = group_members(set.groups(), rows);
    if (groups.size() >= needed) classes_.push_back(std::move(groups));
  }
  if (classes_.size() < shape.ways) {
    fail(ErrorKind::kInput, "{}: expected at least {} classes of {} {} ({} shots and {} queries), found {}",
         set.source(), shape.ways, needed, set.groups().empty() ? "examples" : "groups of examples", shape.shots,
         shape.queries, classes_.size());
  }
}

Episode EpisodeSampler::draw(std::uint64_t seed, std::uint32_t number) const {
  const RandomStream stream{seed, RandomUse::kEpisode, number};
  std::uint64_t used = 0;
  Episode episode;
  episode.support.reserve(shape_.ways * shape_.shots);
  episode.query.reserve(shape_.ways * shape_.queries);
  const auto drawn = draw_distinct(stream, used, classes_.size(), shape_.ways);
  episode.query_counts.assign(shape_.ways, shape_.queries);
  if (shape_.balance.dirichlet) {
    std::vector<std::size_t> limits;
    for (const std::uint32_t c : drawn) limits.push_back(classes_[c].size() - shape_.shots);
    const auto fractions = draw_fractions(*shape_.balance.dirichlet, shape_.ways, stream, kBalanceNumbers);
    episode.query_counts = apportion(fractions, shape_.ways * shape_.queries, limits);
  }
  for (std::size_t way = 0; way < drawn.size(); ++way) {
    const Groups& groups = classes_[drawn[way]];
    const auto chosen = draw_distinct(stream, used, groups.size(), shape_.shots + episode.query_counts[way]);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto& group = groups[chosen[i]];
      const std::size_t place = group.size() == 1 ? 0 : stream.below(used++, group.size());
      (i < shape_.shots ? episode.support : episode.query).push_back(group[place]);
    }
  }
  return episode;
}

}  // namespace annulus
