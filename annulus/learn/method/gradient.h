// What the two gradient engines share: the batch they are given and the gradient they fill in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "annulus/base/distributed/communicator.h"
#include "annulus/base/matrix.h"
#include "annulus/base/random.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// A head as the engines see it. The weights are the effective ones.
template <class T>
struct HeadView {
  HeadKind kind = HeadKind::kCosine;
  ConstMatrixView<T> weights;  // classes x dimension
  std::span<const T> bias;     // linear head only
};

// The training examples of one step, or the slice of them that this process sees.
template <class T>
struct StepBatch {
  ConstMatrixView<T> rows;
  std::span<const std::int32_t> labels;
  std::size_t step = 0;          // decides which random numbers the step uses
  std::span<const T> weights{};  // of the training examples; empty: all 1
  std::size_t offset = 0;        // of the slice in the whole batch
  std::size_t whole = 0;         // training examples of the whole batch; 0: these are all of it

  std::size_t whole_batch() const { return whole == 0 ? rows.rows() : whole; }
  double weight(std::size_t example) const { return weights.empty() ? 1.0 : static_cast<double>(weights[example]); }
};

// dL/dw and dL/db of the mean loss of a step: of a slice of the batch, its part of them.
template <class T>
struct StepGradient {
  Matrix<T> weights;    // classes x dimension
  std::vector<T> bias;  // linear head only
  Slice learning{};     // classes whose rows of `weights` are computed; none: all
  // The last product is computed `chunk` classes at a time; `ready` is called after each.
  std::size_t chunk = std::numeric_limits<std::size_t>::max();
  std::function<void(std::size_t first, std::size_t count)> ready = [](std::size_t, std::size_t) {};

  Slice learning_classes() const { return learning.count > 0 ? learning : Slice{0, weights.rows()}; }
  // Calls use(first, count) for the chunks of `classes` classes.
  template <class Use>
  void for_chunks(std::size_t classes, const Use& use) const {
    for (std::size_t first = 0, count = 0; first < classes; first += count) {
      count = std::min(chunk, classes - first);
      use(first, count);
    }
  }
};

// The gradient where a process has no training example of a batch.
template <class T>
void clear_gradient(StepGradient<T>& gradient) {
  std::fill_n(gradient.weights.data(), gradient.weights.rows() * gradient.weights.cols(), T{0});
  std::fill(gradient.bias.begin(), gradient.bias.end(), T{0});
  gradient.for_chunks(gradient.weights.rows(), gradient.ready);
}

// gradient.weights = logits^T rows + beta * gradient.weights, where `logits` are gradients of logits and `rows` the
// examples they belong to; `last`: nothing will be added to it.
template <class T>
void multiply_gradient(ConstMatrixView<T> logits, ConstMatrixView<T> rows, T beta, bool last, int threads,
                       StepGradient<T>& gradient) {
  const auto multiply = [&](std::size_t first, std::size_t count) {
    gemm(Transpose::kYes, Transpose::kNo, T{1},
         ConstMatrixView<T>(logits.data() + first, logits.rows(), count, logits.stride()), rows, beta,
         gradient.weights.view().rows_at(first, count), threads);
  };
  if (gradient.learning.count > 0) return multiply(gradient.learning.first, gradient.learning.count);
  if (!last) return multiply(0, logits.cols());
  gradient.for_chunks(logits.cols(), [&](std::size_t first, std::size_t count) {
    multiply(first, count);
    gradient.ready(first, count);
  });
}

// Sums over the virtual examples of one step, each counted by its training example's weight.
struct StepSums {
  double loss = 0.0;     // mean over the virtual examples: of a slice or a block, its part of that
  double correct = 0.0;  // classified correctly before the update; 0 unless correct are counted

  void add(const LossSums& part, double weight) {
    loss += weight * part.loss;
    correct += weight * static_cast<double>(part.correct);
  }
  StepSums& operator+=(const StepSums& other) {
    loss += other.loss;
    correct += other.correct;
    return *this;
  }
};

class NoiseBank;

// The virtual examples an engine makes: how many, how far out, and from which random numbers.
template <class T>
struct NoiseOptions {
  T epsilon = 0;                  // 0: the training examples themselves
  std::size_t virtual_count = 1;  // R
  std::span<const T> scale;       // s
  RandomStream stream{};
  std::size_t group = 0;    // factored: training examples that share noise rows; 0: all of a batch
  bool antithetic = false;  // factored: noise rows come in pairs of opposite sign
  T label_smoothing = 0;
  int threads = 0;
  bool count_correct = false;  // of every step
  NoiseBank* bank = nullptr;   // factored: where noise rows are kept for other trainings with the same random stream
  Communicator* blocks = nullptr;  // processes that hold the other blocks of classes, where classes are split
  std::size_t classes = 0;         // in all blocks
  NoiseSource<T> numbers{};        // standard normal numbers from outside, for tests; empty: drawn from `stream`

  // Other processes hold other classes, so that the sums of the softmax are exchanged with them.
  bool classes_are_split() const { return blocks != nullptr; }
};

// Standard normal numbers [first, first + out.size()) of a stream, in the precision of T.
template <class T>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<T> out);
template <>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<float> out);
template <>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<double> out);

}  // namespace annulus
