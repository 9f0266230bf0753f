// Rows that are in a set twice, and rows that are far from all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/eval/image_facts.h"
#include "annulus/eval/neighbours.h"

namespace annulus {

struct DuplicatePair {
  std::uint32_t first = 0;  // the lower row
  std::uint32_t second = 0;
  double cosine = 1.0;
  bool exact = false;  // the same file, or the same features to the last bit
};

struct DuplicateAudit {
  // Exact pairs first, then the most alike. Of several equal rows one stands for all, a training row if there is one:
  // each other is paired with it, and it alone with rows that are nearly the same. But every test row of equal ones is
  // paired with a training row that is nearly the same as they are, where none is the same.
  std::vector<DuplicatePair> pairs;
  double typical_distance = 0.0;  // 1 - cosine of a row and its nearest, median; 0: all rows are the same
  double near_distance = 0.0;     // below it two rows are called nearly the same; 0: too few rows to tell
};

inline constexpr std::size_t kFewestRowsToCompare = 20;  // to learn what is too near and what is far off

// `rows` have length 1; `facts` is empty or has an entry a row, and so has `is_train`: empty means training rows alone.
// How near is too near is learnt from the distances of all rows to their nearest. Rows that have more near-copies than
// `neighbours` holds are paired with the nearest of them. With facts, cost grows with the square of the rows, at about
// a nanosecond a pair.
DuplicateAudit find_duplicates(ConstMatrixView<float> rows, const Neighbours& neighbours,
                               std::span<const ImageFacts> facts, std::span<const std::uint8_t> is_train, int threads);

struct Outlier {
  std::uint32_t row = 0;
  double distance = 0.0;   // 1 - cosine, mean over its three nearest rows
  double deviation = 0.0;  // how far above the median of all rows, in robust standard deviations
};

// The loneliest first; none of fewer than kFewestRowsToCompare rows.
std::vector<Outlier> find_outliers(const Neighbours& neighbours);

}  // namespace annulus
