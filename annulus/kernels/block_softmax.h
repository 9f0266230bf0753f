// The softmax over virtual examples when several processes hold blocks of classes: the statistics of one block, and its
// gradient once the sums over all blocks are known.
#pragma once

#include <cstddef>

#include "annulus/base/matrix.h"
#include "annulus/kernels/virtual_softmax.h"

namespace annulus {

// `logits` are those of one block. A label is an index within the block, and outside [0, classes of the block) if
// another block holds it. Both functions run on the calling thread. Cost: one exponential for every (i, r, j).

// For every pair of a training example and a noise row, over the classes of a block; each of shape training examples x
// noise rows.
template <class T>
struct BlockStatistics {
  MatrixView<T> log_sum;  // logarithm of the sum of e^logit
  MatrixView<T> largest;  // logit
  MatrixView<T> label;    // logit of the label; the lowest value if another block holds it
};

template <class T>
void block_statistics(const VirtualLogits<T>& logits, const BlockStatistics<T>& out);

// Adds the contribution of a block to the gradients of virtual_softmax_gradient. `log_sum` is over all blocks, and
// `classes` is the total. Returns the block's part of the summed loss: the loss is the sum of these parts over blocks
// plus the sum of log_sum.
template <class T>
double block_gradient(const VirtualLogits<T>& logits, ConstMatrixView<T> log_sum, std::size_t classes, T smoothing,
                      T gradient_scale, MatrixView<T> example_gradient, MatrixView<T> noise_gradient);

}  // namespace annulus
