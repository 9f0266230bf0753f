// A map of classes: their means in the plane that shows most of how they differ.
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
  std::vector<Point> points;  // one a class; {0, 0} for a class without rows
  std::vector<Point> rows;    // one a row, on the same scale: some lie outside [-1, 1]
  double shown = 0.0;         // share of the means' variance that lies in the plane
};

// The first two principal components of the class means of `rows`, which have length 1. The plane is found by subspace
// iteration from a fixed start: the same input gives the same bits. Cost: a few hundred products with the means and two
// with the rows; memory: the means as double.
ClassMap class_map(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes);

// Photos of one class that the others of it do not recognise, by the class they look more like.
struct ConfusedClasses {
  std::int32_t label = 0;
  std::int32_t taken_for = 0;
  std::vector<std::uint32_t> rows;  // at most as many as asked for
  std::size_t count = 0;
};

struct LabelScores;
// From score_labels; the most frequent pair first, at most `most` pairs with `most_rows` rows each.
std::vector<ConfusedClasses> confused_pairs(std::span<const std::int32_t> labels, const LabelScores& scores,
                                            std::size_t most, std::size_t most_rows);

}  // namespace annulus
