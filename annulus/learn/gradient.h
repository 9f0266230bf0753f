// What the two gradient engines share: the batch they are given and the gradient they fill in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/random.h"
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

// The originals of one step.
template <class T>
struct StepBatch {
  ConstMatrixView<T> rows;
  std::span<const std::int32_t> labels;
  std::size_t step = 0;          // decides which random numbers the step uses
  std::span<const T> weights{};  // of the originals; empty: all 1

  double weight(std::size_t original) const { return weights.empty() ? 1.0 : static_cast<double>(weights[original]); }
};

// dL/dw and dL/db of the mean loss of a step.
template <class T>
struct StepGradient {
  Matrix<T> weights;    // classes x dimension
  std::vector<T> bias;  // linear head only
};

// Sums over the virtual examples of one step, each counted by its original's weight.
struct StepSums {
  double loss = 0.0;  // mean over the virtual examples
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
