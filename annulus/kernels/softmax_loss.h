// Softmax cross-entropy with label smoothing on rows of logits: loss, number of correct rows and gradient in one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"

namespace annulus {

struct LossSums {
  double loss = 0.0;        // summed over rows
  std::size_t correct = 0;  // rows whose label has the largest logit

  LossSums& operator+=(const LossSums& other) {
    loss += other.loss;
    correct += other.correct;
    return *this;
  }
};

// Replaces each row of logits by gradient_scale * (p - t), where p is its softmax and t the smoothed target
// (1 - smoothing on the label, plus smoothing / classes everywhere). Safe at any finite logit size: the largest logit
// of a row is subtracted first. Runs on the calling thread.
template <class T>
LossSums softmax_loss_gradient(MatrixView<T> logits, std::span<const std::int32_t> labels, T smoothing,
                               T gradient_scale);

// Replaces each row of logits by its softmax.
template <class T>
void softmax_rows(MatrixView<T> logits);

// Index of the largest entry of a row, the first among equals.
template <class T>
std::size_t argmax(std::span<const T> row);

}  // namespace annulus
