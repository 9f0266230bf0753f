// The linear head of Gaussian discriminant analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/learn/method/head.h"

namespace annulus {

// For rows of unit length, whose memory it takes; every class in [0, classes) has at least one. With M examples of d
// dimensions and their within-class covariance S (scatter over M - 1), the precision is d ((M - 1) S + tr(S))^-1, an
// empirical Bayes estimate that needs no tuning. Without a within-class covariance, as with one example per class, the
// precision is the identity: the nearest prototype. Classes have equal priors.
Head<float> discriminant_head(Matrix<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                              int threads);

}  // namespace annulus
