// What a head says about raw feature rows, beyond the most probable classes: logits, and probabilities at a
// temperature.
#pragma once

#include <cstddef>

#include "annulus/base/matrix.h"
#include "annulus/learn/conditioning.h"
#include "annulus/learn/head.h"

namespace annulus {

// Conditions raw rows and scales them to length 1, in place. Throws Error{kInput} for a row that has no length, with
// its number counted from `first`.
void prepare_rows(const Conditioning& conditioning, MatrixView<float> rows, std::size_t first = 0);

// Logits of raw feature rows, which are prepared here; out is rows x classes. Throws Error{kInput} for rows of another
// dimension.
void predict_logits(const Head<float>& head, ConstMatrixView<float> features, MatrixView<float> out, int threads);

// Class probabilities of raw feature rows: the softmax of their logits divided by the temperature.
void predict_probabilities(const Head<float>& head, double temperature, ConstMatrixView<float> features,
                           MatrixView<float> out, int threads);

}  // namespace annulus
