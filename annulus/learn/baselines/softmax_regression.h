// Multinomial logistic regression: the linear head that minimises cross-entropy plus squared weights.
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/method/head.h"

namespace annulus {

struct RegressionOptions {
  double penalty = 1.0;     // on half the sum of squared weights
  double tolerance = 1e-4;  // stops when the gradient is this small relative to the weights (at least 1)
  int threads = 0;
  const Head<float>* start = nullptr;  // a linear head to start from; null: zero
};

// Minimises the sum of cross-entropies + penalty / 2 * |weights|^2 by L-BFGS; the intercepts have no penalty.
// Rows are used as given. The optimum is unique up to a constant added to all intercepts. The bits do not depend on
// `threads`. Throws Error{kInput} if no optimum is found.
Head<float> softmax_regression(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                               const RegressionOptions& options, const ProgressCallback& progress);

}  // namespace annulus
