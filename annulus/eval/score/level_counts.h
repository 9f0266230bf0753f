// How often the groups that a model names are right, level by level.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "annulus/eval/score/score_report.h"
#include "annulus/learn/calibration/confidence_bins.h"
#include "annulus/learn/model/class_tree.h"
#include "annulus/learn/model/prediction.h"

namespace annulus {

class LevelCounts {
 public:
  // The tree must outlive it.
  explicit LevelCounts(const ClassTree& tree) : tree_(tree) {}

  // A prediction for an example of a class of the model. Without a lineage it is not counted.
  void add(std::size_t truth, const Prediction& prediction);

  GroupScore score(double sure) const;

 private:
  struct Level {
    std::size_t correct = 0;
    std::array<ConfidenceBin, kConfidenceBins> bins{};
    std::size_t count = 0;
  };
  const ClassTree& tree_;
  std::size_t examples_ = 0;
  std::size_t named_classes_ = 0;
  std::size_t right_ = 0;
  std::vector<Level> levels_;
};

}  // namespace annulus
