// Tiles of virtual examples through two matrix products and a row softmax.
#include "annulus/learn/independent_gradient.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/noise_bank.h"

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
  if (options_.numbers && options_.epsilon > T{0}) options_.numbers(batch.step, first, tile);
  parallel_for(options_.threads, tasks_for(tile.rows()), [&](std::size_t task) {
    const std::size_t end = std::min(tile.rows(), (task + 1) * kTileRowsPerTask);
    for (std::size_t i = task * kTileRowsPerTask; i < end; ++i) {
      const auto out = tile.row(i);
      const auto original = batch.rows.row((first + i) / count);
      T squared;
      if (options_.epsilon > T{0}) {
        if (!options_.numbers) fill_normals(options_.stream, noise_row_start(batch.step, first + i, dimension), out);
        squared = virtual_row(original, options_.scale, std::span<const T>(out), options_.epsilon, out);
      } else {
        std::copy(original.begin(), original.end(), out.begin());
        squared = squared_length(original);
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
                                             MatrixView<T> tile, MatrixView<T> logits) {
  const std::size_t count = options_.virtual_count;
  gemm(Transpose::kNo, Transpose::kYes, T{1}, ConstMatrixView<T>(tile), head.weights, T{0}, logits, options_.threads);
  labels_.resize(tile.rows());
  for (std::size_t i = 0; i < tile.rows(); ++i) labels_[i] = batch.labels[(first + i) / count];
  const T gradient_scale = T{1} / static_cast<T>(batch.rows.rows() * count);
  sums_.assign(tasks_for(tile.rows()), {});
  parallel_for(options_.threads, sums_.size(), [&](std::size_t task) {
    const std::size_t begin = task * kTileRowsPerTask;
    const std::size_t rows = std::min(kTileRowsPerTask, tile.rows() - begin);
    const auto part = logits.rows_at(begin, rows);
    if (head.kind == HeadKind::kLinear) {
      for (std::size_t i = 0; i < rows; ++i) add_row(head.bias, part.row(i));
    }
    // Rows of the same weight together: all of them, or the virtual examples of one original.
    for (std::size_t row = 0, next = rows; row < rows; row = next) {
      const std::size_t original = (first + begin + row) / count;
      next = batch.weights.empty() ? rows : std::min(rows, (original + 1) * count - first - begin);
      const double weight = batch.weight(original);
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
    sums += tile_logits(head, batch, first, tile, logits);
    gemm(Transpose::kYes, Transpose::kNo, T{1}, ConstMatrixView<T>(logits), ConstMatrixView<T>(tile),
         first == 0 ? T{0} : T{1}, gradient.weights.view(), options_.threads);
    if (head.kind == HeadKind::kLinear) {
      for (std::size_t i = 0; i < rows; ++i) add_row(std::span<const T>(logits.row(i)), std::span<T>(gradient.bias));
    }
  }
  return {sums.loss / static_cast<double>(total), sums.hits};
}

template <class T>
double IndependentGradient<T>::hits(const HeadView<T>& head, const StepBatch<T>& batch) {
  const std::size_t total = batch.rows.rows() * options_.virtual_count;
  double hits = 0.0;
  for (std::size_t first = 0; first < total; first += kTileRows) {
    const std::size_t rows = std::min(kTileRows, total - first);
    const auto tile = reuse_apart(tile_, rows, batch.rows.cols());
    make_tile(head, batch, first, tile);
    hits += tile_logits(head, batch, first, tile, reuse(logits_, rows, head.weights.rows())).hits;
  }
  return hits;
}

template class IndependentGradient<float>;
template class IndependentGradient<double>;

}  // namespace annulus
