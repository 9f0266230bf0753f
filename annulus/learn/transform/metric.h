// Metric: a linear map of features under which directions that vary within classes count less.
#pragma once

#include <cstddef>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

// The map x -> A x with A = I - sum over axes of shrink_k v_k v_k^T: symmetric, and up to a factor the inverse root of
// a covariance that has a variance of its own along each axis v_k and the same variance in every other direction.
// Holds rank x dimension numbers.
struct Metric {
  std::vector<float> axes;    // orthonormal directions v_k, concatenated
  std::vector<float> shrink;  // of each axis, below 1: 1 - root(variance of the other directions / its variance)

  std::size_t rank() const { return shrink.size(); }
  bool empty() const { return shrink.empty(); }
  ConstMatrixView<float> axes_view(std::size_t dimension) const { return {axes.data(), rank(), dimension}; }

  bool operator==(const Metric&) const = default;
};

// Maps every row in place. Costs two products of rows x rank x dimension; the bits do not depend on `threads`.
void apply_metric(const Metric& metric, MatrixView<float> rows, int threads);

// The metric that undoes another.
Metric inverse_of(const Metric& metric);

// Variances of features along directions: what a metric is made from.
struct Spectrum {
  Matrix<float> axes;             // orthonormal rows, the largest variance first
  std::vector<double> variances;  // along the axes
  double total = 0.0;             // the sum of the variances of all directions
};

// The metric of a covariance shrunk by `shrinkage` (0 to 1) towards a sphere of the same mean variance. Directions that
// are no axes of the spectrum share what is left of the total.
Metric metric_of(const Spectrum& spectrum, double shrinkage);

// The `rank` leading directions of the scatter rows^T rows / freedom, by subspace iteration from a fixed start: exact
// where `rank` reaches the rank of the rows. Costs about 16 products of rows x dimension x rank. A pure function of the
// rows.
Spectrum leading_directions(ConstMatrixView<float> rows, double freedom, std::size_t rank, int threads);

}  // namespace annulus
