// The streaming softmax gradient over all pairs of training examples and shared noise rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/kernels/softmax_loss.h"

namespace annulus {

// Logits of the virtual example of training example i and noise row r, in factored form:
//   logit_irj = scale(i, r) * (example(i, j) + noise(r, j))
// so that none of the training examples x noise rows x classes logits is ever stored.
template <class T>
struct VirtualLogits {
  ConstMatrixView<T> example;            // training examples x classes
  ConstMatrixView<T> noise;              // noise rows x classes, the radius included
  ConstMatrixView<T> scale;              // training examples x noise rows, positive
  std::span<const std::int32_t> labels;  // of the training examples
};

// Adds to the two factors of the gradient, with G_irj = gradient_scale * scale(i, r) * (p_irj - t_ij):
//   example_gradient(i, j) += sum over r of G_irj        noise_gradient(r, j) += sum over i of G_irj
// and returns the summed loss and, with `count_correct`, the number of correct pairs (else 0; counting costs one more
// operation per element). t is the smoothed target. Safe at any finite logit size. Runs on the calling thread. Cost:
// one exponential for every (i, r, j); `scratch` needs virtual_softmax_scratch(...) values.
template <class T>
LossSums virtual_softmax_gradient(const VirtualLogits<T>& logits, T smoothing, T gradient_scale, bool count_correct,
                                  MatrixView<T> example_gradient, MatrixView<T> noise_gradient, std::span<T> scratch);

std::size_t virtual_softmax_scratch(std::size_t classes, std::size_t examples, std::size_t noise_rows);

// Number of pairs (i, r) whose label has the largest logit: no exponential is needed.
template <class T>
std::size_t virtual_correct(const VirtualLogits<T>& logits);

// The sum of e^x over the row (x <= 0) with the exponential that the gradient uses: the least work that any softmax
// must do, used as a reference in bench/.
float exponential_sum(std::span<const float> row);

}  // namespace annulus
