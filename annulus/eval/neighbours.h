// The nearest rows of every row of a set, without a matrix of all pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"

namespace annulus {

// Row i of both: the rows nearest to row i, nearest first, of equals the one found first. Where there are fewer than
// `count` other rows the rest is kNoRow.
struct Neighbours {
  static constexpr std::uint32_t kNoRow = 0xFFFFFFFFU;
  Matrix<float> cosine;
  Matrix<std::uint32_t> row;
};

// Rows have length 1. Cost: half of all pairs, a product of 1024 x 1024 rows at a time, which is also the memory beside
// the result. The bits do not depend on `threads`. Throws Error{kCancelled} when told to stop.
Neighbours nearest_rows(ConstMatrixView<float> rows, std::size_t count, int threads, const ProgressCallback& progress);

}  // namespace annulus
