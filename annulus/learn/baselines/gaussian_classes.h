// Gaussian classes with one covariance for all: what linear and Gaussian discriminant analysis share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/method/head.h"

namespace annulus {

struct ClassMoments {
  Matrix<double> means;        // classes x dimension
  std::vector<double> counts;  // examples per class
  Matrix<float> deviations;    // examples x dimension: each row less the mean of its class

  // The sum of squared deviations over examples and dimensions: the trace of the within-class scatter.
  double scatter_trace() const;
  // Whether rows of unit length differ from their class means by more than rounding. With one example per class they
  // do not, and there is no within-class covariance.
  bool varies() const;
};

// Takes the memory of the rows. Every class in [0, classes) has at least one.
ClassMoments class_moments(Matrix<float> rows, std::span<const std::int32_t> labels, std::size_t classes);

// The linear head of Gaussian classes with a common covariance: weights_c = covariance^-1 mean_c, bias_c = offset_c -
// mean_c . weights_c / 2. The covariance is diag(diagonal) + factor^T factor, with a positive diagonal. Takes the
// memory of the factor. Solves a system of the size min(rows of the factor, dimension); in float, so the diagonal
// should not be many orders of magnitude below the rest. The bits do not depend on `threads`.
Head<float> common_covariance_head(ConstMatrixView<double> means, std::span<const double> diagonal,
                                   Matrix<float> factor, std::span<const double> offsets, int threads);

// The same for the identity as covariance: the nearest prototype, if offsets are equal.
Head<float> unit_covariance_head(ConstMatrixView<double> means, std::span<const double> offsets);

}  // namespace annulus
