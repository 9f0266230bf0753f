// Exact copies by their bytes, near copies by a threshold that is estimated from the data.
#include "annulus/eval/audit/duplicates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/eval/metrics/robust.h"

namespace annulus {
namespace {

constexpr double kNearDeviations = 3.5;     // below the median, of log distances
constexpr double kNearFraction = 0.25;      // of the median distance: near copies are below it
constexpr double kSameLookFraction = 0.6;   // the same for images that also look alike
constexpr int kSameLookBits = 4;            // of 64 that may differ
constexpr double kLeastLookContrast = 4.0;  // below it, the look of an image says nothing
constexpr std::size_t kMostLooksOfARow = 8;
constexpr double kLeastDistance = 1e-7;     // the resolution of 1 - cosine in float
constexpr double kOutlierDeviations = 3.5;  // Iglewicz and Hoaglin's rule for modified z-scores
constexpr std::size_t kOutlierNeighbours = 3;
constexpr std::size_t kRowsPerTask = 64;

using PairSet = std::set<std::pair<std::uint32_t, std::uint32_t>>;

std::string_view bytes_of(std::span<const float> row) {
  return {reinterpret_cast<const char*>(row.data()), row.size_bytes()};
}

double cosine_of(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                            [](float x, float y) { return static_cast<double>(x) * static_cast<double>(y); });
}

// Groups of equal rows, each with a representative.
class EqualRows {
 public:
  explicit EqualRows(std::size_t rows) : leader_(rows) { std::iota(leader_.begin(), leader_.end(), 0U); }

  // Rows with the same key become one group; rows with an empty key join none.
  template <class Key>
  void join(const Key& key) {
    std::unordered_map<std::string_view, std::uint32_t> first;
    first.reserve(leader_.size());
    for (std::uint32_t i = 0; i < leader_.size(); ++i) {
      const std::string_view bytes = key(i);
      if (bytes.empty()) continue;
      const auto [entry, is_new] = first.try_emplace(bytes, i);
      if (is_new) continue;
      const auto [low, high] = std::minmax({find(entry->second), find(i)});
      leader_[high] = low;
    }
  }

  // The representative of a group becomes its first training example, or its first row if it has none.
  template <class IsTrain>
  void choose_representatives(const IsTrain& is_train) {
    for (std::uint32_t i = 0; i < leader_.size(); ++i) leader_[i] = find(i);
    std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
    for (std::uint32_t i = 0; i < leader_.size(); ++i) {
      if (leader_[i] != i) groups[leader_[i]].push_back(i);
    }
    for (auto& [first, rows] : groups) {
      rows.insert(rows.begin(), first);
      const auto chosen = std::find_if(rows.begin(), rows.end(), is_train);
      const std::uint32_t leader = chosen == rows.end() ? first : *chosen;
      for (const std::uint32_t row : rows) leader_[row] = leader;
      members_[leader] = std::move(rows);
    }
  }

  std::uint32_t leader(std::uint32_t row) const { return leader_[row]; }
  std::vector<std::uint32_t> members(std::uint32_t leader) const {
    const auto group = members_.find(leader);
    return group == members_.end() ? std::vector<std::uint32_t>{leader} : group->second;
  }
  // The representative of a group, paired with each other row of it.
  PairSet pairs() const {
    PairSet found;
    for (std::uint32_t i = 0; i < leader_.size(); ++i) {
      if (leader_[i] != i) found.insert(std::minmax(leader_[i], i));
    }
    return found;
  }

 private:
  std::uint32_t find(std::uint32_t row) const {
    while (leader_[row] != row) row = leader_[row];
    return row;
  }

  std::vector<std::uint32_t> leader_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> members_;  // of groups of more than one
};

// Distances to the nearest row. Exact copies are left out, because their distance of 0 says nothing about the others.
std::vector<double> nearest_distances(const Neighbours& neighbours) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < neighbours.row.rows(); ++i) {
    for (std::size_t k = 0; k < neighbours.row.cols() && neighbours.row(i, k) != Neighbours::kNoRow; ++k) {
      const double distance = 1.0 - static_cast<double>(neighbours.cosine(i, k));
      if (distance < 10.0 * kLeastDistance) continue;
      distances.push_back(distance);
      break;
    }
  }
  return distances;
}

void set_threshold(const Neighbours& neighbours, DuplicateAudit& audit) {
  std::vector<double> distances = nearest_distances(neighbours);
  if (distances.empty()) return;
  audit.typical_distance = median(distances);
  if (distances.size() < kFewestExamplesToCompare) return;
  for (double& distance : distances) distance = std::log(distance);
  const RobustScale scale = robust_scale(distances);
  audit.near_distance =
      std::min(std::exp(scale.middle - kNearDeviations * scale.spread), kNearFraction * audit.typical_distance);
}

// Images with similar brightness grids, unless their features are far apart.
PairSet pair_looks(std::span<const ImageFacts> facts, ConstMatrixView<float> rows, double most_distance, int threads) {
  std::vector<std::vector<std::uint32_t>> found(facts.size());
  parallel_for(threads, (facts.size() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
    for (std::size_t i = task * kRowsPerTask; i < std::min(facts.size(), (task + 1) * kRowsPerTask); ++i) {
      if (facts[i].contrast < kLeastLookContrast) continue;
      for (std::size_t j = i + 1; j < facts.size() && found[i].size() < kMostLooksOfARow; ++j) {
        if (std::popcount(facts[i].look ^ facts[j].look) > kSameLookBits || facts[j].contrast < kLeastLookContrast)
          continue;
        if (1.0 - cosine_of(rows.row(i), rows.row(j)) < most_distance) {
          found[i].push_back(static_cast<std::uint32_t>(j));
        }
      }
    }
  });
  PairSet pairs;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const std::uint32_t other : found[i]) pairs.emplace(static_cast<std::uint32_t>(i), other);
  }
  return pairs;
}

PairSet near_pairs(const Neighbours& neighbours, double distance) {
  PairSet pairs;
  for (std::size_t i = 0; i < neighbours.row.rows(); ++i) {
    for (std::size_t k = 0; k < neighbours.row.cols(); ++k) {
      const std::uint32_t other = neighbours.row(i, k);
      if (other == Neighbours::kNoRow || 1.0 - static_cast<double>(neighbours.cosine(i, k)) >= distance) break;
      pairs.insert(std::minmax(static_cast<std::uint32_t>(i), other));
    }
  }
  return pairs;
}

}  // namespace

DuplicateAudit find_duplicates(ConstMatrixView<float> rows, const Neighbours& neighbours,
                               std::span<const ImageFacts> facts, std::span<const std::uint8_t> is_train, int threads,
                               std::span<const std::int32_t> groups) {
  DuplicateAudit audit;
  const auto trains = [&](std::uint32_t row) { return is_train.empty() || is_train[row] != 0; };
  EqualRows equal(rows.rows());
  equal.join([&](std::size_t i) { return bytes_of(rows.row(i)); });
  if (!facts.empty()) equal.join([&](std::size_t i) { return std::string_view(facts[i].sha256); });
  equal.choose_representatives(trains);
  const auto together = [&](std::uint32_t a, std::uint32_t b) { return !groups.empty() && groups[a] == groups[b]; };
  for (const auto& [first, second] : equal.pairs()) {
    if (!together(first, second)) audit.pairs.push_back({first, second, 1.0, true});
  }

  set_threshold(neighbours, audit);
  PairSet near = near_pairs(neighbours, audit.near_distance);
  if (!facts.empty()) near.merge(pair_looks(facts, rows, kSameLookFraction * audit.typical_distance, threads));
  PairSet used;
  std::vector<DuplicatePair> alike;
  for (const auto& [a, b] : near) {
    const auto [first, second] = std::minmax({equal.leader(a), equal.leader(b)});
    if (first == second || together(a, b) || !used.emplace(first, second).second) continue;
    const double cosine = cosine_of(rows.row(first), rows.row(second));
    // A group whose representative is a test example has test examples only; each of them leaks.
    const bool leak = trains(first) != trains(second);
    const std::uint32_t one = leak && trains(first) ? second : first;
    const std::uint32_t other = one == first ? second : first;
    for (const std::uint32_t row : leak ? equal.members(one) : std::vector<std::uint32_t>{one}) {
      if (!together(row, other)) alike.push_back({std::min(row, other), std::max(row, other), cosine, false});
    }
  }
  std::stable_sort(alike.begin(), alike.end(),
                   [](const DuplicatePair& a, const DuplicatePair& b) { return a.cosine > b.cosine; });
  audit.pairs.insert(audit.pairs.end(), alike.begin(), alike.end());
  return audit;
}

std::vector<Outlier> find_outliers(const Neighbours& neighbours) {
  std::vector<double> distances(neighbours.row.rows(), 0.0);
  for (std::size_t i = 0; i < distances.size(); ++i) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < std::min(kOutlierNeighbours, neighbours.row.cols()); ++k) {
      if (neighbours.row(i, k) == Neighbours::kNoRow) break;
      distances[i] += 1.0 - static_cast<double>(neighbours.cosine(i, k));
      ++count;
    }
    if (count != 0) distances[i] /= static_cast<double>(count);
  }
  std::vector<Outlier> outliers;
  if (distances.size() < kFewestExamplesToCompare) return outliers;
  const RobustScale scale = robust_scale(distances);
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const double deviation = scale.standardised(distances[i]);
    if (deviation >= kOutlierDeviations) outliers.push_back({static_cast<std::uint32_t>(i), distances[i], deviation});
  }
  std::stable_sort(outliers.begin(), outliers.end(),
                   [](const Outlier& a, const Outlier& b) { return a.deviation > b.deviation; });
  return outliers;
}

}  // namespace annulus
