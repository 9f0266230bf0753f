// Ridge regression onto +1 (own class) and -1 (others).
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/learn/method/head.h"

namespace annulus {

// The linear head that minimises squared errors + penalty * |weights|^2: scikit-learn's RidgeClassifier. The intercept
// has no penalty. Rows are used as given.
Head<float> ridge_head(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                       double penalty, int threads);

}  // namespace annulus
