// The method to the letter: every virtual example has noise of its own. Made in tiles, so memory stays bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/method/gradient.h"

namespace annulus {

// Cost of a step: 4 B R N d flops, B R d normal numbers, B R N exponentials. At epsilon 0 the training examples
// themselves are used, once each. Keeps its buffers from step to step; not safe for concurrent calls.
template <class T>
class IndependentGradient {
 public:
  explicit IndependentGradient(NoiseOptions<T> options);

  // Returns the mean loss over the batch's virtual examples and replaces `gradient` by its gradient.
  StepSums loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch, StepGradient<T>& gradient);
  // Number of the batch's virtual examples that are classified correctly, each counted by its training example's
  // weight.
  double correct(const HeadView<T>& head, const StepBatch<T>& batch);
  std::size_t virtual_count() const { return options_.virtual_count; }

 private:
  // As tile_logits, where other processes hold other classes.
  StepSums block_logits(const StepBatch<T>& batch, std::size_t first, bool correct_alone, MatrixView<T> logits);
  // Makes virtual examples [first, first + tile.rows()) of the batch, scaled so that w . x is the logit.
  void make_tile(const HeadView<T>& head, const StepBatch<T>& batch, std::size_t first, MatrixView<T> tile);
  // `correct_alone`: the gradient is not needed.
  StepSums tile_logits(const HeadView<T>& head, const StepBatch<T>& batch, std::size_t first, bool correct_alone,
                       MatrixView<T> tile, MatrixView<T> logits);

  NoiseOptions<T> options_;
  Matrix<T> tile_;
  Matrix<T> logits_;
  std::vector<std::int32_t> labels_;
  std::vector<StepSums> sums_;
  Matrix<T> no_noise_;
  Matrix<T> ones_;
  Matrix<T> block_gradient_;
  Matrix<T> statistics_;
};

}  // namespace annulus
