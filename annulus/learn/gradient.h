// What the two gradient engines share: the batch they are given and the gradient they fill in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/random.h"
#include "annulus/base/team.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/head.h"

namespace annulus {

// A head as the engines see it. The weights are the effective ones.
template <class T>
struct HeadView {
  HeadKind kind = HeadKind::kCosine;
  ConstMatrixView<T> weights;  // classes x dimension
  std::span<const T> bias;     // linear head only
};

// The originals of one step, or the slice of them that this process sees.
template <class T>
struct StepBatch {
  ConstMatrixView<T> rows;
  std::span<const std::int32_t> labels;
  std::size_t step = 0;          // decides which random numbers the step uses
  std::span<const T> weights{};  // of the originals; empty: all 1
  std::size_t offset = 0;        // of the slice in the whole batch
  std::size_t whole = 0;         // originals of the whole batch; 0: these are all of it

  std::size_t whole_batch() const { return whole == 0 ? rows.rows() : whole; }
  double weight(std::size_t original) const { return weights.empty() ? 1.0 : static_cast<double>(weights[original]); }
};

// dL/dw and dL/db of the mean loss of a step: of a slice of the batch, its part of them.
template <class T>
struct StepGradient {
  Matrix<T> weights;    // classes x dimension
  std::vector<T> bias;  // linear head only
  Slice learning{};     // classes whose rows of `weights` are made; none: all
  // Where it is set, the last product is made `chunk` rows at a time, and each time these are told.
  std::function<void(std::size_t first, std::size_t count)> ready{};
  std::size_t chunk = 0;
};

// gradient.weights = logits^T rows + beta * gradient.weights; `last`: nothing will be added to it.
template <class T>
void multiply_gradient(ConstMatrixView<T> logits, ConstMatrixView<T> rows, T beta, bool last, int threads,
                       StepGradient<T>& gradient) {
  const auto multiply = [&](std::size_t first, std::size_t count) {
    gemm(Transpose::kYes, Transpose::kNo, T{1},
         ConstMatrixView<T>(logits.data() + first, logits.rows(), count, logits.stride()), rows, beta,
         gradient.weights.view().rows_at(first, count), threads);
  };
  if (gradient.learning.count > 0) return multiply(gradient.learning.first, gradient.learning.count);
  if (!last || !gradient.ready) return multiply(0, logits.cols());
  for (std::size_t first = 0; first < logits.cols(); first += gradient.chunk) {
    const std::size_t count = std::min(gradient.chunk, logits.cols() - first);
    multiply(first, count);
    gradient.ready(first, count);
  }
}

// Sums over the virtual examples of one step, each counted by its original's weight.
struct StepSums {
  double loss = 0.0;  // mean over the virtual examples: of a slice or a block, its part of that
  double hits = 0.0;  // classified correctly before the update; 0 unless hits are counted

  void add(const LossSums& part, double weight) {
    loss += weight * part.loss;
    hits += weight * static_cast<double>(part.hits);
  }
  StepSums& operator+=(const StepSums& other) {
    loss += other.loss;
    hits += other.hits;
    return *this;
  }
};

class NoiseBank;

// The virtual examples an engine makes: how many, how far out, and from which random numbers.
template <class T>
struct NoiseOptions {
  T epsilon = 0;                  // 0: the originals themselves
  std::size_t virtual_count = 1;  // R
  std::span<const T> scale;       // s
  RandomStream stream{};
  std::size_t group = 0;    // factored: originals that share noise rows; 0: all of a batch
  bool antithetic = false;  // factored: noise rows come in pairs of opposite sign
  T label_smoothing = 0;
  int threads = 0;
  bool count_hits = false;    // of every step
  NoiseBank* bank = nullptr;  // factored: where noise rows are kept for other trainings with the same random stream
  Team* blocks = nullptr;     // processes that hold the other classes; null: there are none
  std::size_t classes = 0;    // in all blocks
  // Standard normal numbers from outside, for tests: rows [first, first + out.rows()) of the step's noise.
  std::function<void(std::size_t step, std::size_t first, MatrixView<T> out)> numbers{};
};

// Standard normal numbers [first, first + out.size()) of a stream, in the precision of T.
template <class T>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<T> out);
template <>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<float> out);
template <>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<double> out);

}  // namespace annulus
