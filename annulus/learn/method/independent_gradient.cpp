// Tiles of virtual examples through two matrix products and a row softmax.
#include "annulus/learn/method/independent_gradient.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/distributed/block_sums.h"
#include "annulus/learn/method/noise_bank.h"

namespace annulus {
namespace {

constexpr std::size_t kTileRows = 2048;        // virtual examples made at a time
constexpr std::size_t kTileRowsPerTask = 128;  // of a tile

std::size_t tasks_for(std::size_t rows) { return (rows + kTileRowsPerTask - 1) / kTileRowsPerTask; }

}  // namespace

template <>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<float> out) {
  fill_gaussian(stream, first, out);
}

template <>
void fill_normals(const RandomStream& stream, std::uint64_t first, std::span<double> out) {
  std::vector<float> numbers(out.size());
  fill_gaussian(stream, first, numbers);
  std::copy(numbers.begin(), numbers.end(), out.begin());
}

template <class T>
IndependentGradient<T>::IndependentGradient(NoiseOptions<T> options) : options_(std::move(options)) {
  if (options_.epsilon == T{0}) options_.virtual_count = 1;
}

template <class T>
void IndependentGradient<T>::make_tile(const HeadView<T>& head, const StepBatch<T>& batch, std::size_t first,
                                       MatrixView<T> tile) {
  const std::size_t count = options_.virtual_count;
  const std::size_t dimension = tile.cols();
  const std::size_t start = batch.offset * count + first;  // within the whole batch
  if (options_.numbers && options_.epsilon > T{0}) options_.numbers(batch.step, start, tile);
  parallel_for(options_.threads, tasks_for(tile.rows()), [&](std::size_t task) {
    const std::size_t end = std::min(tile.rows(), (task + 1) * kTileRowsPerTask);
    for (std::size_t i = task * kTileRowsPerTask; i < end; ++i) {
      const auto out = tile.row(i);
      const auto example = batch.rows.row((first + i) / count);
      T squared;
      if (options_.epsilon > T{0}) {
        if (!options_.numbers) fill_normals(options_.stream, noise_row_start(batch.step, start + i, dimension), out);
        squared = virtual_row(example, options_.scale, std::span<const T>(out), options_.epsilon, out);
      } else {
        std::copy(example.begin(), example.end(), out.begin());
        squared = squared_length(example);
      }
      if (head.kind == HeadKind::kCosine) {
        scale_row(out, static_cast<T>(kCosineScale) / (std::sqrt(squared) + static_cast<T>(kNormGuard)));
      }
    }
  });
}

// Logits of a tile, replaced by their gradient (of the mean over the whole batch).
template <class T>
StepSums IndependentGradient<T>::tile_logits(const HeadView<T>& head, const StepBatch<T>& batch, std::size_t first,
                                             bool correct_alone, MatrixView<T> tile, MatrixView<T> logits) {
  const std::size_t count = options_.virtual_count;
  gemm(Transpose::kNo, Transpose::kYes, T{1}, ConstMatrixView<T>(tile), head.weights, T{0}, logits, options_.threads);
  labels_.resize(tile.rows());
  for (std::size_t i = 0; i < tile.rows(); ++i) labels_[i] = batch.labels[(first + i) / count];
  if (options_.classes_are_split()) {
    if (head.kind == HeadKind::kLinear) {
      for (std::size_t i = 0; i < logits.rows(); ++i) add_row(head.bias, logits.row(i));
    }
    return block_logits(batch, first, correct_alone, logits);
  }
  const T gradient_scale = T{1} / static_cast<T>(batch.whole_batch() * count);
  sums_.assign(tasks_for(tile.rows()), {});
  parallel_for(options_.threads, sums_.size(), [&](std::size_t task) {
    const std::size_t begin = task * kTileRowsPerTask;
    const std::size_t rows = std::min(kTileRowsPerTask, tile.rows() - begin);
    const auto part = logits.rows_at(begin, rows);
    if (head.kind == HeadKind::kLinear) {
      for (std::size_t i = 0; i < rows; ++i) add_row(head.bias, part.row(i));
    }
    // Rows of the same weight together: all of them, or the virtual examples of one training example.
    for (std::size_t row = 0, next = rows; row < rows; row = next) {
      const std::size_t example = (first + begin + row) / count;
      next = batch.weights.empty() ? rows : std::min(rows, (example + 1) * count - first - begin);
      const double weight = batch.weight(example);
      sums_[task].add(softmax_loss_gradient(part.rows_at(row, next - row),
                                            std::span<const std::int32_t>(labels_).subspan(begin + row, next - row),
                                            options_.label_smoothing, static_cast<T>(weight) * gradient_scale),
                      weight);
    }
  });
  StepSums total;
  for (const StepSums& sum : sums_) total += sum;
  return total;
}

// Rows of logits are training examples beside one noise row of zeros.
template <class T>
StepSums IndependentGradient<T>::block_logits(const StepBatch<T>& batch, std::size_t first, bool correct_alone,
                                              MatrixView<T> logits) {
  const std::size_t count = options_.virtual_count;
  const std::size_t classes = logits.cols();
  sums_.assign(tasks_for(logits.rows()), {});
  const auto noise = reuse(no_noise_, 1 + sums_.size(), classes);  // zeros, and gradients that nobody needs
  std::fill_n(noise.data(), classes, T{0});
  const auto ones = reuse(ones_, logits.rows(), 1);
  std::fill_n(ones.data(), ones.rows(), T{1});
  const VirtualLogits<T> rows{logits, noise.rows_at(0, 1), ones, labels_};
  BlockSums<T> sums(reuse(statistics_, 3 * logits.rows(), 1), correct_alone || options_.count_correct);
  const auto for_parts = [&](const auto& body) {
    parallel_for(options_.threads, sums_.size(), [&](std::size_t task) {
      const std::size_t begin = task * kTileRowsPerTask;
      body(task, begin, std::min(kTileRowsPerTask, logits.rows() - begin));
    });
  };
  for_parts([&](std::size_t, std::size_t begin, std::size_t length) {
    block_statistics(part_of(rows, begin, length), sums.own(begin, length));
  });
  sums.start(*options_.blocks);
  sums.go_on(*options_.blocks);
  sums.finish();
  const auto gradient = reuse(block_gradient_, correct_alone ? 0 : logits.rows(), classes);
  const T gradient_scale = T{1} / static_cast<T>(batch.whole_batch() * count);
  for_parts([&](std::size_t task, std::size_t begin, std::size_t length) {
    for (std::size_t row = begin; row < begin + length; ++row) {
      const double weight = batch.weight((first + row) / count);
      sums_[task] += sums.common(row, 1, weight);
      if (correct_alone) continue;
      const auto out = gradient.rows_at(row, 1);
      std::fill_n(out.data(), classes, T{0});
      sums_[task].loss += weight * block_gradient(part_of(rows, row, 1), sums.log_sum(row, 1), options_.classes,
                                                  options_.label_smoothing, static_cast<T>(weight) * gradient_scale,
                                                  out, noise.rows_at(1 + task, 1));
      std::copy_n(out.data(), classes, logits.row(row).begin());
    }
  });
  StepSums total;
  for (const StepSums& sum : sums_) total += sum;
  return total;
}

template <class T>
StepSums IndependentGradient<T>::loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch,
                                               StepGradient<T>& gradient) {
  const std::size_t total = batch.rows.rows() * options_.virtual_count;
  std::fill(gradient.bias.begin(), gradient.bias.end(), T{0});
  StepSums sums;
  for (std::size_t first = 0; first < total; first += kTileRows) {
    const std::size_t rows = std::min(kTileRows, total - first);
    const auto tile = reuse_apart(tile_, rows, batch.rows.cols());
    const auto logits = reuse(logits_, rows, head.weights.rows());
    make_tile(head, batch, first, tile);
    sums += tile_logits(head, batch, first, false, tile, logits);
    multiply_gradient(ConstMatrixView<T>(logits), ConstMatrixView<T>(tile), first == 0 ? T{0} : T{1},
                      first + rows == total, options_.threads, gradient);
    if (head.kind == HeadKind::kLinear) {
      for (std::size_t i = 0; i < rows; ++i) add_row(std::span<const T>(logits.row(i)), std::span<T>(gradient.bias));
    }
  }
  return {sums.loss / static_cast<double>(batch.whole_batch() * options_.virtual_count), sums.correct};
}

template <class T>
double IndependentGradient<T>::correct(const HeadView<T>& head, const StepBatch<T>& batch) {
  const std::size_t total = batch.rows.rows() * options_.virtual_count;
  double correct = 0.0;
  for (std::size_t first = 0; first < total; first += kTileRows) {
    const std::size_t rows = std::min(kTileRows, total - first);
    const auto tile = reuse_apart(tile_, rows, batch.rows.cols());
    make_tile(head, batch, first, tile);
    correct += tile_logits(head, batch, first, true, tile, reuse(logits_, rows, head.weights.rows())).correct;
  }
  return correct;
}

template class IndependentGradient<float>;
template class IndependentGradient<double>;

}  // namespace annulus
