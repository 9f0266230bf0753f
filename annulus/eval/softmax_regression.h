// Multinomial logistic regression: a linear head with the least sum of cross-entropy and squared weights.
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/head.h"

namespace annulus {

// Minimises sum of cross-entropies + penalty / 2 * |weights|^2 by L-BFGS from zero; the intercepts bear no penalty.
// Rows are used as given. The optimum is unique up to a constant added to all intercepts. The bits do not depend on
// `threads`. Throws Error{kInput} where no optimum is found.
Head<float> softmax_regression(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                               double penalty, int threads, const ProgressCallback& progress);

}  // namespace annulus
