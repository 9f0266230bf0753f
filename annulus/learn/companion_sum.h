// The sum of a trained head and its companions for callers that have the ridge regression already.
#pragma once

#include <cstddef>

#include "annulus/learn/companions.h"

namespace annulus {

// with_companions, where `ridge` are the ridge_weights of the rows and spreads are measured on at most `spread_rows`.
Head<float> sum_with_ridge(const Head<float>& trained, const TrainingRows<float>& rows, const Companions& companions,
                           const Matrix<float>& ridge, std::size_t spread_rows, int threads,
                           const WorkShare* share = nullptr);

}  // namespace annulus
