// Factored virtual examples: training examples of a group share noise rows, so products fall from B R rows to B + R.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "annulus/kernels/gemm.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/kernels/virtual_softmax.h"
#include "annulus/learn/distributed/block_sums.h"
#include "annulus/learn/method/gradient.h"

namespace annulus {

// Each training example still sees R independent samples of exactly the right distribution, and every virtual example
// has its exact norm; only training examples of one group share noise rows, which are fresh every step. With training
// examples z_i and noise rows n_r:
//   logit_irj = a_ir (z_i . w_j + epsilon n_r . w_j),  a_ir = 10 / (|z_i + epsilon n_r| + 1e-5)
//   |z_i + epsilon n_r|^2 = |z_i|^2 + 2 epsilon z_i . n_r + epsilon^2 |n_r|^2
// Training examples and noise rows epsilon n_r = epsilon s . delta_r stand in one matrix, so that a step has one
// product with the weights and one for the gradient; the standard normal delta_r may be kept and shared between
// trainings. Cost of a step with g training examples a group: 4 (B + R B / g) N d + 2 B R d flops and B R N
// exponentials. Keeps its buffers from step to step; not safe for concurrent calls.
template <class T>
class FactoredGradient {
 public:
  explicit FactoredGradient(NoiseOptions<T> options);

  // Returns the mean loss over the batch's virtual examples and replaces `gradient` by its gradient.
  StepSums loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch, StepGradient<T>& gradient);
  // Number of the batch's virtual examples that are classified correctly, each counted by its training example's
  // weight.
  double correct(const HeadView<T>& head, const StepBatch<T>& batch);
  std::size_t virtual_count() const { return options_.virtual_count; }

 private:
  // Training examples [first, first + count) that are handled by one task; `group` says whose noise they see.
  struct Part {
    std::size_t group;
    std::size_t first;
    std::size_t count;
  };

  void divide_into_groups(const StepBatch<T>& batch);
  // Training examples, noise rows, their logits and their products, for one batch.
  void prepare(const HeadView<T>& head, const StepBatch<T>& batch);
  // Training examples above noise rows, and their squared lengths.
  void fill_stack(const StepBatch<T>& batch);
  // Standard normal rows of a step that are there already, in the bank or from outside; empty: to be drawn.
  ConstMatrixView<T> ready_noise(std::size_t step, std::size_t dimension);
  // Logits of all R noise rows of each group where only half of them were multiplied out.
  void mirror_noise_logits(std::size_t examples, std::size_t classes);
  // What comes of the training examples of a part: their gradients are added to the two, or, where correct alone are
  // asked for, the two are empty.
  StepSums part_sums(const Part& part, const HeadView<T>& head, const StepBatch<T>& batch, MatrixView<T> example,
                     MatrixView<T> noise, std::span<T> scratch);
  // Begins to work the sums over classes out with the processes that hold the others, where there are any.
  void exchange_sums(const HeadView<T>& head, const StepBatch<T>& batch, bool count_correct);
  // Calls body(number) for the numbers of all parts. Where sums are exchanged, those of the second half are on their
  // way while the parts of the first are worked on.
  template <class Body>
  void for_parts(const Body& body);
  // What the softmax kernel reads for a part; works its scales a out.
  VirtualLogits<T> logits_of(const Part& part, const HeadView<T>& head, const StepBatch<T>& batch);
  // Sums the parts' noise gradients of each noise row, mirrored rows with opposite sign.
  void fold_noise_gradient(MatrixView<T> folded);

  std::size_t noise_rows() const { return groups_ * drawn_; }

  NoiseOptions<T> options_;
  std::size_t drawn_;                    // noise rows drawn for a group: R, or half of R when antithetic
  std::size_t groups_ = 0;               // of the current batch, or that its slice has a part of
  std::size_t first_group_ = 0;          // of them within the whole batch
  std::vector<Part> parts_;              // of the current batch
  std::vector<std::size_t> first_part_;  // of each group, and one past the last
  std::vector<StepSums> sums_;
  std::vector<GemmCall<T>> calls_;
  std::vector<T> radii_;    // epsilon s
  std::vector<T> squares_;  // |z|^2 of training examples, then epsilon^2 |n|^2 of noise rows

  Matrix<T> given_noise_;    // delta from outside
  Matrix<T> stacked_;        // memory of stack_
  MatrixView<T> stack_;      // z, then epsilon n
  Matrix<T> logits_;         // z . w (+ bias), then epsilon n . w
  Matrix<T> noise_logits_;   // epsilon n . w, R for each group, when antithetic
  Matrix<T> products_;       // 2 epsilon z . n
  Matrix<T> scales_;         // a, training examples x R
  Matrix<T> gradient_;       // of logits_
  Matrix<T> part_gradient_;  // of the noise logits, R rows for each part
  Matrix<T> scratch_;
  struct Half {
    Slice parts;
    std::size_t first_example;
    BlockSums<T> sums;
  };
  Matrix<T> statistics_;      // memory of the sums
  std::vector<Half> halves_;  // of the parts, where sums are exchanged
};

}  // namespace annulus
