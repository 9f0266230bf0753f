// Finds labels that are likely wrong: each example is compared with the examples of all classes except itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"

namespace annulus {

// How each example compares with the classes. Its own class is represented by its mean without the example, and without
// the others of its group.
struct LabelScores {
  Matrix<float> directions;  // prototypes of unit length; zero for a class without examples
  std::vector<double> own;   // cosine to the mean of its own class; the median of all for examples that are alone
  std::vector<double> best;  // cosine to the nearest mean of another class
  std::vector<std::int32_t> other;      // that class; -1 where there is none
  std::vector<std::uint8_t> alone;      // 1: the only example of its class, or of its only group
  std::vector<double> score;            // low: suspicious
  std::vector<std::size_t> class_rows;  // examples of each class

  bool recognised(std::size_t row) const { return own[row] >= best[row]; }
};

// `rows` have unit length; `groups` as FeatureSetParts::groups. Cost: a product of rows and prototypes. Memory: the
// means and a block of cosines. The bits do not depend on `threads`.
LabelScores score_labels(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                         int threads, std::span<const std::int32_t> groups = {});

struct LabelSuspect {
  std::uint32_t row = 0;
  std::int32_t suggested = -1;  // the nearest other class
  double score = 0.0;
  double probability = 0.0;  // that the label is wrong, if kPlantedFraction of all labels are
};

// The fraction of labels that is changed in trials, to measure how label errors look in this data.
inline constexpr double kPlantedFraction = 0.05;

struct LabelAudit {
  std::vector<LabelSuspect> ranked;  // every example that is not alone in its class, most suspicious first
  // Recall of planted errors: the fraction found among as many first examples of the ranking, examples that are
  // probably wrong already left out; 0 without a trial.
  double planted_recall = 0.0;
  std::size_t planted = 0;  // over all trials
};

// Ranks examples by `scores`, and plants label errors (sampled with `seed`) to turn scores into probabilities. Throws
// Error{kCancelled} when progress asks to stop.
LabelAudit audit_labels(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, const LabelScores& scores,
                        std::uint64_t seed, int threads, const ProgressCallback& progress,
                        std::span<const std::int32_t> groups = {});

}  // namespace annulus
