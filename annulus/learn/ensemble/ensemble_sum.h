// The sum of a trained head and its ensemble heads for callers that already have the ridge regression.
#pragma once

#include <cstddef>

#include "annulus/learn/ensemble/ensemble_heads.h"

namespace annulus {

// As with_ensemble_heads, where `ridge` are the ridge_weights of the rows, unused without a ridge_weight, and spreads
// are measured on at most `spread_rows` rows.
Head<float> sum_with_ridge(const Head<float>& trained, const TrainingExamples<float>& rows,
                           const EnsembleHeads& ensemble, const Matrix<float>& ridge, std::size_t spread_rows,
                           int threads, const ParallelLayout* layout = &ParallelLayout::one_process());

}  // namespace annulus
