// Which labels are likely wrong: each row is judged by the rows of all classes but itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"

namespace annulus {

// What the other rows say about each row. "Own" leaves the row itself out of the mean of its class.
struct LabelScores {
  Matrix<float> directions;             // of each class's mean, length 1; zero for a class without rows
  std::vector<double> own;              // cosine to the mean of its class; the median of all where it is alone in it
  std::vector<double> best;             // cosine to the nearest mean of another class
  std::vector<std::int32_t> other;      // that class; -1 where there is none
  std::vector<std::uint8_t> alone;      // 1: the only row of its class, about which nothing is known
  std::vector<double> score;            // low: suspicious
  std::vector<std::size_t> class_rows;  // rows of each class

  bool recognised(std::size_t row) const { return own[row] >= best[row]; }
};

// Rows have length 1. Cost: a product of rows and class means; memory: the means and a block of cosines. The bits do
// not depend on `threads`.
LabelScores score_labels(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                         int threads);

struct LabelSuspect {
  std::uint32_t row = 0;
  std::int32_t suggested = -1;  // the class that fits best among the others
  double score = 0.0;
  double probability = 0.0;  // that the label is wrong, if kPlantedShare of all labels are
};

// The share of labels that is made wrong on purpose to learn what a wrong label looks like in this data.
inline constexpr double kPlantedShare = 0.05;

struct LabelAudit {
  std::vector<LabelSuspect> ranked;  // every row that is not alone in its class, most suspicious first
  // Of wrong labels planted in this very data: the share found in as many first rows of the ranking, rows that are
  // probably wrong already left out; 0 without a trial.
  double planted_recall = 0.0;
  std::size_t planted = 0;  // over all trials
};

// Ranks rows by `scores` and plants wrong labels (drawn by `seed`) in the data to learn how sure a score makes. Throws
// Error{kCancelled} when told to stop.
LabelAudit audit_labels(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, const LabelScores& scores,
                        std::uint64_t seed, int threads, const ProgressCallback& progress);

}  // namespace annulus
