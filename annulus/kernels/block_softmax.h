// The softmax over virtual examples when classes are held in blocks by several processes: what a block knows by itself,
// and its gradient once the sums over all blocks are known.
#pragma once

#include <cstddef>

#include "annulus/base/matrix.h"
#include "annulus/kernels/virtual_softmax.h"

namespace annulus {

// In these two, `logits` are those of one block. A label counts from the start of the block and is outside [0, classes
// of the block) where another block holds it. Both run on the calling thread; cost: an exponential for every (i, r, j).

// Of every pair of an original and a noise row over the classes of a block: originals x noise rows each.
template <class T>
struct BlockStatistics {
  MatrixView<T> log_sum;  // logarithm of the sum of e^logit
  MatrixView<T> largest;  // logit
  MatrixView<T> label;    // its logit; the lowest number where another block holds it
};

template <class T>
void block_statistics(const VirtualLogits<T>& logits, const BlockStatistics<T>& out);

// Adds to the gradients of virtual_softmax_gradient the part of a block. log_sum is over all blocks, `classes` counts
// all of them. Returns the block's part of the summed loss: what is added up over blocks, and then the log_sum once.
template <class T>
double block_gradient(const VirtualLogits<T>& logits, ConstMatrixView<T> log_sum, std::size_t classes, T smoothing,
                      T gradient_scale, MatrixView<T> original_gradient, MatrixView<T> noise_gradient);

}  // namespace annulus
