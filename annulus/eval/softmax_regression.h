// Multinomial logistic regression: a linear head with the least sum of cross-entropy and squared weights.
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/head.h"

namespace annulus {

struct RegressionOptions {
  double penalty = 1.0;     // on half the sum of squared weights
  double tolerance = 1e-4;  // length of the gradient, against that of all weights (at least 1), at which it ends
  int threads = 0;
};

// Minimises sum of cross-entropies + penalty / 2 * |weights|^2 by L-BFGS from zero; the intercepts bear no penalty.
// Rows are used as given. The optimum is unique up to a constant added to all intercepts. The bits do not depend on
// `threads`. Throws Error{kInput} where no optimum is found.
Head<float> softmax_regression(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                               const RegressionOptions& options, const ProgressCallback& progress);

}  // namespace annulus
