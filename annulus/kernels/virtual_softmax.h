// The streaming softmax gradient over all pairs of originals and shared noise rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/kernels/softmax_loss.h"

namespace annulus {

// Logits of the virtual example of original i and noise row r, in factored form:
//   logit_irj = scale(i, r) * (original(i, j) + noise(r, j))
// so that none of the originals x noise rows x classes logits is ever stored.
template <class T>
struct VirtualLogits {
  ConstMatrixView<T> original;           // originals x classes
  ConstMatrixView<T> noise;              // noise rows x classes, the radius included
  ConstMatrixView<T> scale;              // originals x noise rows, positive
  std::span<const std::int32_t> labels;  // of the originals
};

// Adds to the two factors of the gradient, with G_irj = gradient_scale * scale(i, r) * (p_irj - t_ij):
//   original_gradient(i, j) += sum over r of G_irj        noise_gradient(r, j) += sum over i of G_irj
// and returns the summed loss, and the hits when they are asked for (0 otherwise: they cost one more operation an
// element). t is the smoothed target. Safe at any finite logit size. Runs on
// the calling thread. Cost: one exponential for every (i, r, j); `scratch` needs virtual_softmax_scratch(classes,
// originals) numbers.
template <class T>
LossSums virtual_softmax_gradient(const VirtualLogits<T>& logits, T smoothing, T gradient_scale, bool count_hits,
                                  MatrixView<T> original_gradient, MatrixView<T> noise_gradient, std::span<T> scratch);

std::size_t virtual_softmax_scratch(std::size_t classes, std::size_t originals, std::size_t noise_rows);

// Number of pairs (i, r) whose label has the largest logit: no exponential is needed.
template <class T>
std::size_t virtual_hits(const VirtualLogits<T>& logits);

// The sum of e^x over the row (x <= 0), by the exponential that the gradient uses: the least work that any softmax must
// do, and so the yardstick that bench/ measures the gradient against.
float exponential_sum(std::span<const float> row);

}  // namespace annulus
