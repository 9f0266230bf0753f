// Candidate pairs come from confusions of single examples; then each pair is compared alone.
#include "annulus/eval/audit/class_audit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace annulus {
namespace {

constexpr double kConfusedFraction = 0.2;
constexpr std::size_t kMostCandidates = 2000;

double dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                            [](float x, float y) { return static_cast<double>(x) * static_cast<double>(y); });
}

std::vector<std::pair<std::int32_t, std::int32_t>> confused_pairs(std::span<const std::int32_t> labels,
                                                                  const LabelScores& scores) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> counts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (scores.alone[i] != 0 || scores.other[i] < 0 || scores.recognised(i)) continue;
    ++counts[std::minmax(labels[i], scores.other[i])];
  }
  std::vector<std::pair<std::pair<std::int32_t, std::int32_t>, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::size_t i = 0; i < std::min(kMostCandidates, sorted.size()); ++i) pairs.push_back(sorted[i].first);
  return pairs;
}

}  // namespace

double least_fraction(std::size_t correct, std::size_t count) {
  if (count == 0) return 0.0;
  constexpr double kZ = 1.96;
  const auto n = static_cast<double>(count);
  const double fraction = static_cast<double>(correct) / n;
  const double middle = fraction + kZ * kZ / (2.0 * n);
  const double half = kZ * std::sqrt(fraction * (1.0 - fraction) / n + kZ * kZ / (4.0 * n * n));
  return std::max(0.0, (middle - half) / (1.0 + kZ * kZ / n));
}

std::vector<AlikeClasses> find_alike_classes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                                             const LabelScores& scores, std::size_t most) {
  std::vector<std::vector<std::uint32_t>> members(scores.class_rows.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    members[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<AlikeClasses> alike;
  for (const auto& [first, second] : confused_pairs(labels, scores)) {
    AlikeClasses pair{first, second, 0, 0, 0.0};
    const auto a = static_cast<std::size_t>(first);
    const auto b = static_cast<std::size_t>(second);
    pair.cosine = dot(scores.directions.row(a), scores.directions.row(b));
    for (const auto& [own, other] : {std::pair{a, b}, std::pair{b, a}}) {
      if (members[own].size() < 2) continue;
      for (const std::uint32_t row : members[own]) {
        ++pair.rows;
        if (dot(rows.row(row), scores.directions.row(other)) > scores.own[row]) ++pair.mistaken;
      }
    }
    if (static_cast<double>(pair.mistaken) >= kConfusedFraction * static_cast<double>(pair.rows)) alike.push_back(pair);
  }
  std::stable_sort(alike.begin(), alike.end(), [](const AlikeClasses& a, const AlikeClasses& b) {
    const double fraction_a = least_fraction(a.mistaken, a.rows);
    const double fraction_b = least_fraction(b.mistaken, b.rows);
    return fraction_a != fraction_b ? fraction_a > fraction_b : a.cosine > b.cosine;
  });
  if (alike.size() > most) alike.resize(most);
  return alike;
}

std::vector<ClassRecall> recall_of_classes(std::span<const std::int32_t> labels, const LabelScores& scores) {
  std::vector<ClassRecall> all(scores.class_rows.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ClassRecall& recall = all[static_cast<std::size_t>(labels[i])];
    recall.label = labels[i];
    ++recall.rows;
    if (scores.recognised(i)) ++recall.recognised;
  }
  std::erase_if(all, [](const ClassRecall& recall) { return recall.rows < 2; });
  const auto fraction = [](const ClassRecall& recall) {
    return static_cast<double>(recall.recognised) / static_cast<double>(recall.rows);
  };
  std::stable_sort(all.begin(), all.end(), [&](const ClassRecall& a, const ClassRecall& b) {
    return fraction(a) != fraction(b) ? fraction(a) < fraction(b) : a.rows < b.rows;
  });
  return all;
}

}  // namespace annulus
