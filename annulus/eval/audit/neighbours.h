// The nearest neighbours of every row, without a matrix of all pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"

namespace annulus {

// Row i of both: the neighbours of row i, nearest first; of equal ones, the one found first. With fewer than `count`
// other rows the rest is kNoRow.
struct Neighbours {
  static constexpr std::uint32_t kNoRow = 0xFFFFFFFFU;
  Matrix<float> cosine;
  Matrix<std::uint32_t> row;
};

// `rows` have unit length. Rows of the same group (as FeatureSetParts::groups; empty: none are) are not neighbours.
// Cost: half of all pairs, in products of 1024 x 1024 rows, which is also the memory beside the result. The bits do not
// depend on `threads`. Throws Error{kCancelled} when progress asks to stop.
Neighbours nearest_rows(ConstMatrixView<float> rows, std::size_t count, int threads, const ProgressCallback& progress,
                        std::span<const std::int32_t> groups = {});

}  // namespace annulus
