// The factored step: small matrix products around the streaming softmax kernel.
#include "annulus/learn/factored_gradient.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/virtual_softmax.h"

namespace annulus {
namespace {

constexpr std::size_t kOriginalsPerPart = 32;  // fixed, so that results do not depend on the number of threads

}  // namespace

template <class T>
FactoredGradient<T>::FactoredGradient(NoiseOptions<T> options)
    : options_(std::move(options)),
      drawn_(options_.antithetic ? (options_.virtual_count + 1) / 2 : options_.virtual_count) {}

template <class T>
std::size_t FactoredGradient<T>::balanced_group(std::size_t dimension) {
  // 4 R N d / g flops against R N exponentials an original: equal at g = 4 d * (seconds a flop) / (seconds an
  // exponential). bench/kernels measures both; their ratio is near 1 : 80 on AVX2 machines.
  constexpr std::size_t kFlopsPerExponential = 80;
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
void FactoredGradient<T>::fill_noise(std::size_t step, MatrixView<T> noise) {
  noise_squares_.resize(noise.rows());
  if (options_.numbers) options_.numbers(step, 0, noise);
  const std::uint64_t step_start = std::uint64_t{step} << 40;
  constexpr std::size_t kRowsPerTask = 16;
  parallel_for(options_.threads, (noise.rows() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(noise.rows(), (task + 1) * kRowsPerTask);
    for (std::size_t r = task * kRowsPerTask; r < end; ++r) {
      const auto row = noise.row(r);
      if (!options_.numbers) fill_normals(options_.stream, step_start + r * noise.cols(), row);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] *= options_.scale[j];
      noise_squares_[r] = squared_length(std::span<const T>(row));
    }
  });
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
  const T epsilon = options_.epsilon;
  for (std::size_t g = 0, p = 0; g < groups_; ++g) {
    const std::size_t first = parts_[p].first;
    std::size_t originals = 0;
    for (; p < parts_.size() && parts_[p].group == g; ++p) originals += parts_[p].count;
    gemm(Transpose::kNo, Transpose::kYes, T{2} * epsilon, batch.rows.rows_at(first, originals),
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
  const auto noise = reuse(noise_, noise_rows(), batch.rows.cols());
  fill_noise(batch.step, noise);
  fill_scales(head, batch, noise);

  const auto original = reuse(original_logits_, batch.rows.rows(), classes);
  gemm(Transpose::kNo, Transpose::kYes, T{1}, batch.rows, head.weights, T{0}, original, options_.threads);
  if (head.kind == HeadKind::kLinear) {
    for (std::size_t i = 0; i < original.rows(); ++i) add_row(head.bias, original.row(i));
  }
  const std::size_t count = options_.virtual_count;
  const auto all = reuse(noise_logits_, groups_ * count, classes);
  const auto drawn = options_.antithetic ? reuse(drawn_logits_, noise_rows(), classes) : all;
  gemm(Transpose::kNo, Transpose::kYes, options_.epsilon, ConstMatrixView<T>(noise), head.weights, T{0}, drawn,
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
  std::vector<std::size_t> first_part(groups_ + 1, parts_.size());
  for (std::size_t p = parts_.size(); p > 0; --p) first_part[parts_[p - 1].group] = p - 1;
  const MatrixView<T> parts(noise_gradient_.data(), parts_.size() * count, classes);
  parallel_for(options_.threads, noise_rows(), [&](std::size_t row) {
    const std::size_t group = row / drawn_;
    const std::size_t r = row % drawn_;
    const auto out = folded.row(row);
    const auto start = parts.row(first_part[group] * count + r);
    std::copy(start.begin(), start.end(), out.begin());
    for (std::size_t p = first_part[group] + 1; p < first_part[group + 1]; ++p) {
      add_row(std::span<const T>(parts.row(p * count + r)), out);
    }
    if (r + drawn_ >= count) return;  // drawn for itself alone
    for (std::size_t p = first_part[group]; p < first_part[group + 1]; ++p) {
      const auto mirrored = parts.row(p * count + r + drawn_);
      std::transform(out.begin(), out.end(), mirrored.begin(), out.begin(), [](T a, T b) { return a - b; });
    }
  });
  return folded;
}

template <class T>
double FactoredGradient<T>::loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch,
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
  losses_.assign(parts_.size(), 0.0);
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
    losses_[task] = virtual_softmax_gradient(logits, options_.label_smoothing, gradient_scale, part_original,
                                             part_noise, scratch.row(task));
  });
  const auto folded = fold_noise_gradient(classes);
  gemm(Transpose::kYes, Transpose::kNo, T{1}, ConstMatrixView<T>(original_gradient), batch.rows, T{0},
       gradient.weights.view(), options_.threads);
  gemm(Transpose::kYes, Transpose::kNo, options_.epsilon, ConstMatrixView<T>(folded),
       ConstMatrixView<T>(noise_.data(), noise_rows(), batch.rows.cols()), T{1}, gradient.weights.view(),
       options_.threads);
  if (head.kind == HeadKind::kLinear) {
    std::fill(gradient.bias.begin(), gradient.bias.end(), T{0});
    for (std::size_t i = 0; i < originals; ++i) {
      add_row(std::span<const T>(original_gradient.row(i)), std::span<T>(gradient.bias));
    }
  }
  double loss = 0.0;
  for (const double part : losses_) loss += part;
  return loss / static_cast<double>(originals * count);
}

template <class T>
std::size_t FactoredGradient<T>::hits(const HeadView<T>& head, const StepBatch<T>& batch) {
  prepare(head, batch);
  const std::size_t classes = head.weights.rows();
  const std::size_t count = options_.virtual_count;
  std::vector<std::size_t> hits(parts_.size(), 0);
  parallel_for(options_.threads, parts_.size(), [&](std::size_t task) {
    const Part& part = parts_[task];
    hits[task] = virtual_hits(
        VirtualLogits<T>{ConstMatrixView<T>(original_logits_.data() + part.first * classes, part.count, classes),
                         ConstMatrixView<T>(noise_logits_.data() + part.group * count * classes, count, classes),
                         ConstMatrixView<T>(scales_.data() + part.first * count, part.count, count),
                         batch.labels.subspan(part.first, part.count)});
  });
  std::size_t total = 0;
  for (const std::size_t part : hits) total += part;
  return total;
}

template class FactoredGradient<float>;
template class FactoredGradient<double>;

}  // namespace annulus
