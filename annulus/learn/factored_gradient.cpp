// The factored step: small matrix products around the streaming softmax kernel.
#include "annulus/learn/factored_gradient.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/virtual_softmax.h"
#include "annulus/learn/noise_bank.h"

namespace annulus {
namespace {

constexpr std::size_t kOriginalsPerPart = 32;  // fixed, so that results do not depend on the number of threads
constexpr std::size_t kRowsPerTask = 16;

std::size_t row_tasks(std::size_t rows) { return (rows + kRowsPerTask - 1) / kRowsPerTask; }

// out = rows . shape, column by column.
template <class T>
void scale_columns(int threads, ConstMatrixView<T> rows, std::span<const T> shape, MatrixView<T> out) {
  parallel_for(threads, row_tasks(rows.rows()), [&](std::size_t task) {
    const std::size_t end = std::min(rows.rows(), (task + 1) * kRowsPerTask);
    for (std::size_t i = task * kRowsPerTask; i < end; ++i) multiply_row(rows.row(i), shape, out.row(i));
  });
}

}  // namespace

template <class T>
FactoredGradient<T>::FactoredGradient(NoiseOptions<T> options)
    : options_(std::move(options)),
      drawn_(options_.antithetic ? (options_.virtual_count + 1) / 2 : options_.virtual_count) {
  for (const T s : options_.scale) squared_scale_.push_back(s * s);
}

template <class T>
std::size_t FactoredGradient<T>::balanced_group(std::size_t dimension) {
  // 4 R N d / g flops against R N exponentials an original: equal at g = 4 d * (seconds a flop) / (seconds an
  // exponential). bench/scaling measures both: 0.46 ns and 1 / 69 GFLOP/s on an AVX2 machine. A constant rather than a
  // measurement at run time, because the group size changes the result.
  constexpr std::size_t kFlopsPerExponential = 32;
  return std::max<std::size_t>(1, 4 * dimension / kFlopsPerExponential);
}

template <class T>
void FactoredGradient<T>::cut(std::size_t originals) {
  const std::size_t group = options_.group == 0 ? originals : std::min(options_.group, originals);
  groups_ = (originals + group - 1) / group;
  parts_.clear();
  for (std::size_t g = 0; g < groups_; ++g) {
    const std::size_t end = std::min(originals, (g + 1) * group);
    for (std::size_t first = g * group; first < end; first += kOriginalsPerPart) {
      parts_.push_back({g, first, std::min(kOriginalsPerPart, end - first)});
    }
  }
}

template <class T>
ConstMatrixView<T> FactoredGradient<T>::noise_of(std::size_t step, std::size_t dimension) {
  if constexpr (std::is_same_v<T, float>) {
    if (options_.bank != nullptr) {
      const auto kept = options_.bank->rows(options_.stream, step, noise_rows(), dimension);
      if (kept.rows() > 0) return kept;
    }
  }
  const auto noise = reuse(noise_, noise_rows(), dimension);
  if (options_.numbers) {
    options_.numbers(step, 0, noise);
    return noise;
  }
  parallel_for(options_.threads, row_tasks(noise.rows()), [&](std::size_t task) {
    const std::size_t end = std::min(noise.rows(), (task + 1) * kRowsPerTask);
    for (std::size_t r = task * kRowsPerTask; r < end; ++r) {
      fill_normals(options_.stream, noise_row_start(step, r, dimension), noise.row(r));
    }
  });
  return noise;
}

template <class T>
void FactoredGradient<T>::fill_scales(const HeadView<T>& head, const StepBatch<T>& batch, ConstMatrixView<T> noise) {
  const std::size_t count = options_.virtual_count;
  const auto scales = reuse(scales_, batch.rows.rows(), count);
  if (head.kind == HeadKind::kLinear) {
    for (std::size_t i = 0; i < scales.rows(); ++i) std::fill(scales.row(i).begin(), scales.row(i).end(), T{1});
    return;
  }
  const auto products = reuse(products_, batch.rows.rows(), drawn_);
  const auto scaled_rows = reuse(scaled_rows_, batch.rows.rows(), batch.rows.cols());
  scale_columns(options_.threads, batch.rows, options_.scale, scaled_rows);
  noise_squares_.resize(noise.rows());
  parallel_for(options_.threads, row_tasks(noise.rows()), [&](std::size_t task) {
    const std::size_t end = std::min(noise.rows(), (task + 1) * kRowsPerTask);
    for (std::size_t r = task * kRowsPerTask; r < end; ++r) {
      noise_squares_[r] = weighted_squares(noise.row(r), std::span<const T>(squared_scale_));
    }
  });
  const T epsilon = options_.epsilon;
  for (std::size_t g = 0, p = 0; g < groups_; ++g) {
    const std::size_t first = parts_[p].first;
    std::size_t originals = 0;
    for (; p < parts_.size() && parts_[p].group == g; ++p) originals += parts_[p].count;
    gemm(Transpose::kNo, Transpose::kYes, T{2} * epsilon, ConstMatrixView<T>(scaled_rows.rows_at(first, originals)),
         noise.rows_at(g * drawn_, drawn_), T{0}, products.rows_at(first, originals), options_.threads);
  }
  parallel_for(options_.threads, parts_.size(), [&](std::size_t task) {
    const Part& part = parts_[task];
    const T* squares = noise_squares_.data() + part.group * drawn_;
    for (std::size_t i = part.first; i < part.first + part.count; ++i) {
      const T original = squared_length(batch.rows.row(i));
      for (std::size_t r = 0; r < count; ++r) {
        const bool mirrored = r >= drawn_;
        const std::size_t row = mirrored ? r - drawn_ : r;
        const T cross = mirrored ? -products(i, row) : products(i, row);
        const T squared = std::max(T{0}, original + cross + epsilon * epsilon * squares[row]);
        scales(i, r) = static_cast<T>(kCosineScale) / (std::sqrt(squared) + static_cast<T>(kNormGuard));
      }
    }
  });
}

template <class T>
void FactoredGradient<T>::prepare(const HeadView<T>& head, const StepBatch<T>& batch) {
  const std::size_t classes = head.weights.rows();
  cut(batch.rows.rows());
  step_noise_ = noise_of(batch.step, batch.rows.cols());
  fill_scales(head, batch, step_noise_);

  const auto original = reuse(original_logits_, batch.rows.rows(), classes);
  gemm(Transpose::kNo, Transpose::kYes, T{1}, batch.rows, head.weights, T{0}, original, options_.threads);
  if (head.kind == HeadKind::kLinear) {
    for (std::size_t i = 0; i < original.rows(); ++i) add_row(head.bias, original.row(i));
  }
  const std::size_t count = options_.virtual_count;
  const auto all = reuse(noise_logits_, groups_ * count, classes);
  const auto drawn = options_.antithetic ? reuse(drawn_logits_, noise_rows(), classes) : all;
  const auto scaled_weights = reuse(scaled_weights_, classes, batch.rows.cols());
  scale_columns(options_.threads, head.weights, options_.scale, scaled_weights);
  gemm(Transpose::kNo, Transpose::kYes, options_.epsilon, step_noise_, ConstMatrixView<T>(scaled_weights), T{0}, drawn,
       options_.threads);
  if (!options_.antithetic) return;
  for (std::size_t g = 0; g < groups_; ++g) {
    for (std::size_t r = 0; r < count; ++r) {
      const auto from = drawn.row(g * drawn_ + (r < drawn_ ? r : r - drawn_));
      const auto to = all.row(g * count + r);
      if (r < drawn_) {
        std::copy(from.begin(), from.end(), to.begin());
      } else {
        std::transform(from.begin(), from.end(), to.begin(), [](T value) { return -value; });
      }
    }
  }
}

template <class T>
MatrixView<T> FactoredGradient<T>::fold_noise_gradient(std::size_t classes) {
  const std::size_t count = options_.virtual_count;
  const auto folded = reuse(folded_gradient_, noise_rows(), classes);
  first_part_.assign(groups_ + 1, parts_.size());
  for (std::size_t p = parts_.size(); p > 0; --p) first_part_[parts_[p - 1].group] = p - 1;
  const MatrixView<T> parts(noise_gradient_.data(), parts_.size() * count, classes);
  parallel_for(options_.threads, noise_rows(), [&](std::size_t row) {
    const std::size_t group = row / drawn_;
    const std::size_t r = row % drawn_;
    const auto out = folded.row(row);
    const auto start = parts.row(first_part_[group] * count + r);
    std::copy(start.begin(), start.end(), out.begin());
    for (std::size_t p = first_part_[group] + 1; p < first_part_[group + 1]; ++p) {
      add_row(std::span<const T>(parts.row(p * count + r)), out);
    }
    if (r + drawn_ >= count) return;  // drawn for itself alone
    for (std::size_t p = first_part_[group]; p < first_part_[group + 1]; ++p) {
      const auto mirrored = parts.row(p * count + r + drawn_);
      std::transform(out.begin(), out.end(), mirrored.begin(), out.begin(), [](T a, T b) { return a - b; });
    }
  });
  return folded;
}

template <class T>
StepSums FactoredGradient<T>::loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch,
                                            StepGradient<T>& gradient) {
  prepare(head, batch);
  const std::size_t classes = head.weights.rows();
  const std::size_t originals = batch.rows.rows();
  const std::size_t count = options_.virtual_count;
  const T gradient_scale = T{1} / static_cast<T>(originals * count);
  const auto original_gradient = reuse(original_gradient_, originals, classes);
  const auto noise_gradient = reuse(noise_gradient_, parts_.size() * count, classes);
  const std::size_t scratch_size = virtual_softmax_scratch(classes, kOriginalsPerPart, count);
  const auto scratch = reuse(scratch_, parts_.size(), scratch_size);
  sums_.assign(parts_.size(), {});
  parallel_for(options_.threads, parts_.size(), [&](std::size_t task) {
    const Part& part = parts_[task];
    const VirtualLogits<T> logits{
        ConstMatrixView<T>(original_logits_.data() + part.first * classes, part.count, classes),
        ConstMatrixView<T>(noise_logits_.data() + part.group * count * classes, count, classes),
        ConstMatrixView<T>(scales_.data() + part.first * count, part.count, count),
        batch.labels.subspan(part.first, part.count)};
    const auto part_original = original_gradient.rows_at(part.first, part.count);
    const auto part_noise = noise_gradient.rows_at(task * count, count);
    std::fill_n(part_original.data(), part.count * classes, T{0});
    std::fill_n(part_noise.data(), count * classes, T{0});
    sums_[task] = virtual_softmax_gradient(logits, options_.label_smoothing, gradient_scale, options_.count_hits,
                                           part_original, part_noise, scratch.row(task));
  });
  const auto folded = fold_noise_gradient(classes);
  gemm(Transpose::kYes, Transpose::kNo, options_.epsilon, ConstMatrixView<T>(folded), step_noise_, T{0},
       gradient.weights.view(), options_.threads);
  scale_columns(options_.threads, ConstMatrixView<T>(gradient.weights.view()), options_.scale, gradient.weights.view());
  gemm(Transpose::kYes, Transpose::kNo, T{1}, ConstMatrixView<T>(original_gradient), batch.rows, T{1},
       gradient.weights.view(), options_.threads);
  if (head.kind == HeadKind::kLinear) {
    std::fill(gradient.bias.begin(), gradient.bias.end(), T{0});
    for (std::size_t i = 0; i < originals; ++i) {
      add_row(std::span<const T>(original_gradient.row(i)), std::span<T>(gradient.bias));
    }
  }
  LossSums total;
  for (const LossSums& part : sums_) total += part;
  return {total.loss / static_cast<double>(originals * count), total.hits};
}

template <class T>
std::size_t FactoredGradient<T>::hits(const HeadView<T>& head, const StepBatch<T>& batch) {
  prepare(head, batch);
  const std::size_t classes = head.weights.rows();
  const std::size_t count = options_.virtual_count;
  sums_.assign(parts_.size(), {});
  parallel_for(options_.threads, parts_.size(), [&](std::size_t task) {
    const Part& part = parts_[task];
    sums_[task].hits = virtual_hits(
        VirtualLogits<T>{ConstMatrixView<T>(original_logits_.data() + part.first * classes, part.count, classes),
                         ConstMatrixView<T>(noise_logits_.data() + part.group * count * classes, count, classes),
                         ConstMatrixView<T>(scales_.data() + part.first * count, part.count, count),
                         batch.labels.subspan(part.first, part.count)});
  });
  LossSums total;
  for (const LossSums& part : sums_) total += part;
  return total.hits;
}

template class FactoredGradient<float>;
template class FactoredGradient<double>;

}  // namespace annulus
