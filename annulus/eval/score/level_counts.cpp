// Counts along lineages.
#include "annulus/eval/score/level_counts.h"

namespace annulus {

void LevelCounts::add(std::size_t truth, const Prediction& prediction) {
  if (prediction.lineage.empty()) return;
  ++examples_;
  for (std::size_t i = 0; i < prediction.lineage.size(); ++i) {
    const RankedNode& node = prediction.lineage[i];
    const bool correct = tree_.is_within(truth, static_cast<std::size_t>(node.index));
    if (levels_.size() <= i) levels_.resize(i + 1);
    Level& level = levels_[i];
    ++level.count;
    level.correct += correct ? 1 : 0;
    add_confidence(level.bins, static_cast<double>(node.probability), correct);
    if (i == prediction.level) right_ += correct ? 1 : 0;
  }
  if (prediction.level + 1 == prediction.lineage.size()) ++named_classes_;
}

GroupScore LevelCounts::score(double sure) const {
  const auto percent = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  GroupScore score;
  score.sure = sure;
  score.right = percent(right_, examples_);
  score.named_classes = percent(named_classes_, examples_);
  for (const Level& level : levels_) {
    score.levels.push_back({level.count, percent(level.correct, level.count), expected_calibration_error(level.bins)});
  }
  return score;
}

}  // namespace annulus
