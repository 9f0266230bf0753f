// A map of the classes: their means projected onto their first two principal components.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

struct ClassMap {
  struct Point {
    double x = 0.0;  // within [-1, 1], like y; the same scale for both
    double y = 0.0;
  };
  std::vector<Point> points;  // one per class; {0, 0} for a class without examples
  std::vector<Point> rows;    // one per example, on the same scale: some lie outside [-1, 1]
  double shown = 0.0;         // fraction of the variance of the means that the plane contains
};

// The first two principal components of the prototypes of `rows`, which have unit length. Subspace iteration from a
// fixed start: the same input gives the same bits. Cost: a few hundred products with the means and two with the rows.
// Memory: the means as double.
ClassMap class_map(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes);

// Examples of one class that are nearer to another class, grouped by that class.
struct ConfusedClasses {
  std::int32_t label = 0;
  std::int32_t taken_for = 0;
  std::vector<std::uint32_t> rows;  // at most `most_rows`
  std::size_t count = 0;
};

struct LabelScores;
// From score_labels; the most frequent pair first, at most `most` pairs with `most_rows` examples each.
std::vector<ConfusedClasses> confused_pairs(std::span<const std::int32_t> labels, const LabelScores& scores,
                                            std::size_t most, std::size_t most_rows);

}  // namespace annulus
