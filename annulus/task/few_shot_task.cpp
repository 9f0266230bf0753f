// Samples k-shot splits: one random order per class, so that a split with k+1 shots contains the split with k.
#include "annulus/task/few_shot_task.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/kernels/row_range.h"

namespace annulus {
namespace {

std::vector<std::vector<std::uint32_t>> rows_by_class(const FeatureSet& set, bool only_train) {
  std::vector<std::vector<std::uint32_t>> rows(set.classes());
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (only_train && !set.is_train().empty() && set.is_train()[i] == 0) continue;
    rows[static_cast<std::size_t>(set.labels()[i])].push_back(i);
  }
  return rows;
}

void check_classes(const FeatureSet& set) {
  if (!set.labelled()) {
    fail(ErrorKind::kInput, "{}: expected labels to learn from, found only features", set.source());
  }
  if (set.classes() < 2) {
    fail(ErrorKind::kInput, "{}: expected at least two classes, found {}", set.source(), set.classes());
  }
}

std::vector<std::uint32_t> draw(const FeatureSet& set, const ShotOptions& options, bool only_train) {
  check_classes(set);
  const auto by_class = rows_by_class(set, only_train);
  std::vector<std::uint32_t> support;
  const char* const shot = set.groups().empty() ? "training examples" : "groups of training examples";
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    const std::size_t needed = std::max<std::size_t>(options.shots, 1);
    const auto groups = group_members(set.groups(), by_class[c]);
    if (groups.size() < needed) {
      fail(ErrorKind::kInput, "{}: class \"{}\" has {} {}, but {} {} needed", set.source(), set.class_names()[c],
           groups.size(), shot, needed, needed == 1 ? "is" : "are");
    }
    if (options.shots == 0) {
      support.insert(support.end(), by_class[c].begin(), by_class[c].end());
      continue;
    }
    const RandomStream stream{options.seed, RandomUse::kSupportDraw, static_cast<std::uint32_t>(c)};
    const auto order = random_permutation(stream, 0, groups.size());
    const auto first = static_cast<std::ptrdiff_t>(support.size());
    for (std::size_t s = 0; s < options.shots; ++s) {
      support.insert(support.end(), groups[order[s]].begin(), groups[order[s]].end());
    }
    std::sort(support.begin() + first, support.end());
  }
  return support;
}

}  // namespace

Split draw_support(const FeatureSet& set, const ShotOptions& options) {
  return {draw(set, options, false), {}, options.seed};
}

Split draw_split(const FeatureSet& set, const ShotOptions& options) {
  Split split{draw(set, options, true), {}, options.seed};
  std::vector<bool> drawn(set.rows(), false);
  for (const std::uint32_t i : split.support) drawn[i] = true;
  if (!set.groups().empty()) {
    std::unordered_set<std::int32_t> groups;
    for (const std::uint32_t i : split.support) groups.insert(set.groups()[i]);
    for (std::uint32_t i = 0; i < set.rows(); ++i) drawn[i] = groups.contains(set.groups()[i]);
  }
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (!drawn[i] && (set.is_train().empty() || set.is_train()[i] == 0)) split.query.push_back(i);
  }
  return split;
}

Split draw_groups(const FeatureSet& set, std::span<const std::int32_t> groups, const ShotOptions& options) {
  check_classes(set);
  const auto count = static_cast<std::size_t>(*std::max_element(groups.begin(), groups.end())) + 1;
  if (options.shots == 0 || options.shots >= count) {
    fail(ErrorKind::kUsage, "expected 1 to {} of the {} groups for training, found {}", count - 1, count,
         options.shots);
  }
  const auto order = random_permutation({options.seed, RandomUse::kSupportDraw, 0}, 0, count);
  std::vector<bool> drawn(count, false);
  for (std::size_t i = 0; i < options.shots; ++i) drawn[order[i]] = true;
  Split split{{}, {}, options.seed};
  const auto by_class = rows_by_class(set, false);
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    const std::size_t before = split.support.size();
    for (const std::uint32_t row : by_class[c]) {
      (drawn[static_cast<std::size_t>(groups[row])] ? split.support : split.query).push_back(row);
    }
    if (split.support.size() == before) {
      fail(ErrorKind::kInput, "{}: class \"{}\" has no example in the {} sampled groups", set.source(),
           set.class_names()[c], options.shots);
    }
  }
  std::sort(split.query.begin(), split.query.end());
  return split;
}

LabelledExamples gather(const FeatureSet& set, std::span<const std::uint32_t> rows) {
  LabelledExamples result{Matrix<float>(rows.size(), set.dimension()), set.labels_of(rows), set.classes()};
  result.groups = groups_of(set, rows);
  set.copy_rows(rows, result.features.view());
  for (std::size_t i = 0; i < rows.size(); ++i) bring_into_range(result.features.row(i));
  return result;
}

std::vector<std::int32_t> map_classes(const FeatureSet& from, std::span<const std::string> to) {
  std::unordered_map<std::string, std::int32_t> index;
  for (std::size_t c = 0; c < to.size(); ++c) index.emplace(to[c], static_cast<std::int32_t>(c));
  std::vector<std::int32_t> map(from.classes());
  for (std::size_t c = 0; c < map.size(); ++c) {
    const auto found = index.find(from.class_names()[c]);
    if (found == index.end()) {
      fail(ErrorKind::kInput, "{}: class \"{}\" is unknown: it is not among the {} classes learnt", from.source(),
           from.class_names()[c], to.size());
    }
    map[c] = found->second;
  }
  return map;
}

std::vector<std::size_t> class_counts(std::span<const std::int32_t> labels, std::size_t classes) {
  std::vector<std::size_t> counts(classes, 0);
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

}  // namespace annulus
