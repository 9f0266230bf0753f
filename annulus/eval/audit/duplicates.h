// Finds duplicates and outliers in a set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/eval/audit/image_facts.h"
#include "annulus/eval/audit/neighbours.h"

namespace annulus {

struct DuplicatePair {
  std::uint32_t first = 0;  // the lower row
  std::uint32_t second = 0;
  double cosine = 1.0;
  bool exact = false;  // the same file, or the same features to the last bit
};

struct DuplicateAudit {
  // Exact pairs first, then the most similar. Of several equal rows one is the representative, a training example if
  // there is one: every other row is paired with it, and only it is paired with near copies. Exception: every test
  // example of a group without training examples is paired with a training example that is nearly the same.
  std::vector<DuplicatePair> pairs;
  double typical_distance = 0.0;  // median of 1 - cosine between a row and its nearest; 0: all rows are the same
  double near_distance = 0.0;     // threshold of near copies; 0: too few rows to estimate it
};

inline constexpr std::size_t kFewestExamplesToCompare = 20;  // needed to estimate the thresholds

// `rows` have unit length. `facts` and `is_train` are empty or have one entry per row; an empty `is_train` means that
// all are training examples. The threshold of near copies is estimated from the distances of all rows to their nearest.
// Rows of the same group (as FeatureSetParts::groups; empty: none are) are not paired: `neighbours` leaves them out
// too. A row with more near copies than `neighbours` holds is paired with the nearest of them. With facts, the cost is
// quadratic in the rows, at about a nanosecond per pair.
DuplicateAudit find_duplicates(ConstMatrixView<float> rows, const Neighbours& neighbours,
                               std::span<const ImageFacts> facts, std::span<const std::uint8_t> is_train, int threads,
                               std::span<const std::int32_t> groups = {});

struct Outlier {
  std::uint32_t row = 0;
  double distance = 0.0;   // 1 - cosine, mean over the three nearest rows
  double deviation = 0.0;  // above the median of all rows, in robust standard deviations
};

// The farthest first; none for fewer than kFewestExamplesToCompare rows.
std::vector<Outlier> find_outliers(const Neighbours& neighbours);

}  // namespace annulus
