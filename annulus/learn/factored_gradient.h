// Factored virtual examples: originals of a group share noise rows, so products fall from B R rows to B + R.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/gradient.h"

namespace annulus {

// Each original still sees R independent draws of exactly the right law, and every virtual example has its exact norm;
// only originals of one group share noise rows, which are fresh every step. With originals z_i and noise rows n_r:
//   logit_irj = a_ir (z_i . w_j + epsilon n_r . w_j),  a_ir = 10 / (|z_i + epsilon n_r| + 1e-5)
//   |z_i + epsilon n_r|^2 = |z_i|^2 + 2 epsilon z_i . n_r + epsilon^2 |n_r|^2
// The noise rows n_r = s . delta_r are never formed: s is multiplied into weights, originals and gradient instead, so
// that the standard normal delta_r can be kept and shared between trainings.
// Cost of a step with g originals a group: 4 (B + R B / g) N d + 2 B R d flops and B R N exponentials.
// Keeps its buffers from step to step; not safe for concurrent calls.
template <class T>
class FactoredGradient {
 public:
  explicit FactoredGradient(NoiseOptions<T> options);

  // Returns the mean loss over the batch's virtual examples and replaces `gradient` by its gradient.
  StepSums loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch, StepGradient<T>& gradient);
  // Number of the batch's virtual examples that are classified correctly.
  std::size_t hits(const HeadView<T>& head, const StepBatch<T>& batch);
  std::size_t virtual_count() const { return options_.virtual_count; }

  // The group size at which matrix products and exponentials cost about the same.
  static std::size_t balanced_group(std::size_t dimension);

 private:
  // Originals [first, first + count) that are handled by one task; `group` says whose noise they see.
  struct Part {
    std::size_t group;
    std::size_t first;
    std::size_t count;
  };

  void cut(std::size_t originals);
  // Noise rows, logits of originals and noise, and the scales a, for one batch.
  void prepare(const HeadView<T>& head, const StepBatch<T>& batch);
  // Standard normal rows of a step, from the bank where there is one.
  ConstMatrixView<T> noise_of(std::size_t step, std::size_t dimension);
  void fill_scales(const HeadView<T>& head, const StepBatch<T>& batch, ConstMatrixView<T> noise);
  // Sums the parts' noise gradients of each noise row, mirrored rows with opposite sign.
  MatrixView<T> fold_noise_gradient(std::size_t classes);

  std::size_t noise_rows() const { return groups_ * drawn_; }

  NoiseOptions<T> options_;
  std::size_t drawn_;                    // noise rows drawn for a group: R, or half of R when antithetic
  std::size_t groups_ = 0;               // of the current batch
  std::vector<Part> parts_;              // of the current batch
  std::vector<std::size_t> first_part_;  // of each group, and one past the last
  std::vector<LossSums> sums_;
  std::vector<T> squared_scale_;  // s . s
  std::vector<T> noise_squares_;

  Matrix<T> noise_;                // delta, when there is no bank
  ConstMatrixView<T> step_noise_;  // delta of the current step
  Matrix<T> scaled_weights_;       // s . w
  Matrix<T> scaled_rows_;          // s . z
  Matrix<T> original_logits_;      // z . w (+ bias)
  Matrix<T> noise_logits_;         // epsilon n . w, R for each group, mirrored rows included
  Matrix<T> drawn_logits_;         // epsilon n . w of the rows drawn
  Matrix<T> products_;             // z . n
  Matrix<T> scales_;               // a, originals x R
  Matrix<T> original_gradient_;
  Matrix<T> noise_gradient_;  // R rows for each part
  Matrix<T> folded_gradient_;
  Matrix<T> scratch_;
};

}  // namespace annulus
