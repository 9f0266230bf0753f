// The factored step: small matrix products around the streaming softmax kernel.
#include "annulus/learn/method/factored_gradient.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/virtual_softmax.h"
#include "annulus/learn/method/noise_bank.h"

namespace annulus {
namespace {

constexpr std::size_t kExamplesPerPart = 32;  // fixed, so that results do not depend on the number of threads
constexpr std::size_t kRowsPerTask = 16;

}  // namespace

template <class T>
FactoredGradient<T>::FactoredGradient(NoiseOptions<T> options)
    : options_(std::move(options)),
      drawn_(options_.antithetic ? (options_.virtual_count + 1) / 2 : options_.virtual_count) {
  for (const T s : options_.scale) radii_.push_back(options_.epsilon * s);
}

template <class T>
void FactoredGradient<T>::divide_into_groups(const StepBatch<T>& batch) {
  const std::size_t whole = batch.whole_batch();
  const std::size_t examples = batch.rows.rows();
  const std::size_t group = options_.group == 0 ? whole : std::min(options_.group, whole);
  first_group_ = batch.offset / group;
  groups_ = (batch.offset + examples + group - 1) / group - first_group_;
  parts_.clear();
  for (std::size_t g = 0; g < groups_; ++g) {
    const std::size_t start = (first_group_ + g) * group;
    const std::size_t end = std::min(examples, start + group - batch.offset);
    for (std::size_t first = std::max(start, batch.offset) - batch.offset; first < end; first += kExamplesPerPart) {
      parts_.push_back({g, first, std::min(kExamplesPerPart, end - first)});
    }
  }
}

template <class T>
ConstMatrixView<T> FactoredGradient<T>::ready_noise(std::size_t step, std::size_t dimension) {
  if (options_.numbers) {
    const auto noise = reuse(given_noise_, noise_rows(), dimension);
    options_.numbers(step, first_group_ * drawn_, noise);
    return noise;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (options_.bank != nullptr && first_group_ == 0)
      return options_.bank->rows(options_.stream, step, noise_rows(), dimension);
  }
  return {};
}

template <class T>
void FactoredGradient<T>::fill_stack(const StepBatch<T>& batch) {
  const std::size_t examples = batch.rows.rows();
  const std::size_t dimension = batch.rows.cols();
  stack_ = reuse_apart(stacked_, examples + noise_rows(), dimension);
  const auto stack = stack_;
  squares_.resize(stack.rows());
  const ConstMatrixView<T> ready = ready_noise(batch.step, dimension);
  parallel_for(options_.threads, (stack.rows() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(stack.rows(), (task + 1) * kRowsPerTask);
    for (std::size_t i = task * kRowsPerTask; i < end; ++i) {
      const std::span<T> row = stack.row(i);
      if (i < examples) {
        const auto example = batch.rows.row(i);
        std::copy(example.begin(), example.end(), row.begin());
      } else if (ready.rows() > 0) {
        multiply_row(ready.row(i - examples), std::span<const T>(radii_), row);
      } else {
        const std::size_t number = first_group_ * drawn_ + i - examples;
        fill_normals(options_.stream, noise_row_start(batch.step, number, dimension), row);
        multiply_row(std::span<const T>(row), std::span<const T>(radii_), row);
      }
      squares_[i] = squared_length(std::span<const T>(row));
    }
  });
}

template <class T>
void FactoredGradient<T>::mirror_noise_logits(std::size_t examples, std::size_t classes) {
  const std::size_t count = options_.virtual_count;
  const auto mirrored = reuse(noise_logits_, groups_ * count, classes);
  for (std::size_t row = 0; row < mirrored.rows(); ++row) {
    const std::size_t r = row % count;
    const T* from = logits_.data() + (examples + row / count * drawn_ + r % drawn_) * classes;
    if (r < drawn_) {
      std::copy_n(from, classes, mirrored.row(row).begin());
    } else {
      std::transform(from, from + classes, mirrored.row(row).begin(), [](T value) { return -value; });
    }
  }
}

template <class T>
void FactoredGradient<T>::prepare(const HeadView<T>& head, const StepBatch<T>& batch) {
  const std::size_t examples = batch.rows.rows();
  const std::size_t classes = head.weights.rows();
  divide_into_groups(batch);
  fill_stack(batch);
  const ConstMatrixView<T> stack = stack_;
  const auto logits = reuse(logits_, stack.rows(), classes);
  calls_.assign(1, {Transpose::kNo, Transpose::kYes, T{1}, stack, head.weights, T{0}, logits});
  if (head.kind == HeadKind::kCosine) {
    const auto products = reuse(products_, examples, drawn_);
    for (std::size_t g = 0, p = 0; g < groups_; ++g) {
      const std::size_t first = parts_[p].first;
      std::size_t count = 0;
      for (; p < parts_.size() && parts_[p].group == g; ++p) count += parts_[p].count;
      calls_.push_back({Transpose::kNo, Transpose::kYes, T{2}, stack.rows_at(first, count),
                        stack.rows_at(examples + g * drawn_, drawn_), T{0}, products.rows_at(first, count)});
    }
  }
  gemm(std::span<const GemmCall<T>>(calls_), options_.threads);
  if (head.kind == HeadKind::kLinear) {
    for (std::size_t i = 0; i < examples; ++i) add_row(head.bias, logits.row(i));
  }
  if (options_.antithetic) mirror_noise_logits(examples, classes);
  reuse(scales_, examples, options_.virtual_count);
}

template <class T>
VirtualLogits<T> FactoredGradient<T>::logits_of(const Part& part, const HeadView<T>& head, const StepBatch<T>& batch) {
  const std::size_t classes = head.weights.rows();
  const std::size_t count = options_.virtual_count;
  const std::size_t examples = batch.rows.rows();
  const MatrixView<T> scales(scales_.data() + part.first * count, part.count, count);
  const T* noise_squares = squares_.data() + examples + part.group * drawn_;
  for (std::size_t i = 0; i < part.count; ++i) {
    if (head.kind == HeadKind::kLinear) {
      std::fill(scales.row(i).begin(), scales.row(i).end(), T{1});
      continue;
    }
    const T example = squares_[part.first + i];
    const T* products = products_.data() + (part.first + i) * drawn_;
    for (std::size_t r = 0; r < count; ++r) {
      const bool mirrored = r >= drawn_;
      const std::size_t row = mirrored ? r - drawn_ : r;
      const T cross = mirrored ? -products[row] : products[row];
      const T squared = std::max(T{0}, example + cross + noise_squares[row]);
      scales(i, r) = static_cast<T>(kCosineScale) / (std::sqrt(squared) + static_cast<T>(kNormGuard));
    }
  }
  const T* noise = options_.antithetic ? noise_logits_.data() + part.group * count * classes
                                       : logits_.data() + (examples + part.group * drawn_) * classes;
  return {ConstMatrixView<T>(logits_.data() + part.first * classes, part.count, classes),
          ConstMatrixView<T>(noise, count, classes), scales, batch.labels.subspan(part.first, part.count)};
}

template <class T>
void FactoredGradient<T>::fold_noise_gradient(MatrixView<T> folded) {
  const std::size_t count = options_.virtual_count;
  first_part_.assign(groups_ + 1, parts_.size());
  for (std::size_t p = parts_.size(); p > 0; --p) first_part_[parts_[p - 1].group] = p - 1;
  const MatrixView<T> parts(part_gradient_.data(), parts_.size() * count, folded.cols());
  parallel_for(options_.threads, (folded.rows() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(folded.rows(), (task + 1) * kRowsPerTask);
    for (std::size_t row = task * kRowsPerTask; row < end; ++row) {
      const std::size_t group = row / drawn_;
      const std::size_t r = row % drawn_;
      const auto out = folded.row(row);
      const auto start = parts.row(first_part_[group] * count + r);
      std::copy(start.begin(), start.end(), out.begin());
      for (std::size_t p = first_part_[group] + 1; p < first_part_[group + 1]; ++p) {
        add_row(std::span<const T>(parts.row(p * count + r)), out);
      }
      if (r + drawn_ >= count) continue;  // drawn for itself alone
      for (std::size_t p = first_part_[group]; p < first_part_[group + 1]; ++p) {
        const auto mirrored = parts.row(p * count + r + drawn_);
        std::transform(out.begin(), out.end(), mirrored.begin(), out.begin(), [](T a, T b) { return a - b; });
      }
    }
  });
}

template <class T>
void FactoredGradient<T>::exchange_sums(const HeadView<T>& head, const StepBatch<T>& batch, bool count_correct) {
  halves_.clear();
  if (!options_.classes_are_split()) return;
  const auto memory = reuse(statistics_, 3 * batch.rows.rows(), options_.virtual_count);
  for (const std::size_t number : {0U, 1U}) {
    const Slice parts = slice_of(parts_.size(), 2, number);
    if (parts.count == 0) continue;
    const std::size_t first = parts_[parts.first].first;
    const Part& last = parts_[parts.first + parts.count - 1];
    const std::size_t examples = last.first + last.count - first;
    halves_.push_back({parts, first, BlockSums<T>(memory.rows_at(3 * first, 3 * examples), count_correct)});
    parallel_for(options_.threads, parts.count, [&](std::size_t task) {
      const Part& part = parts_[parts.first + task];
      block_statistics(logits_of(part, head, batch), halves_.back().sums.own(part.first - first, part.count));
    });
    halves_.back().sums.start(*options_.blocks);
  }
  for (Half& half : halves_) half.sums.go_on(*options_.blocks);
}

template <class T>
template <class Body>
void FactoredGradient<T>::for_parts(const Body& body) {
  if (!options_.classes_are_split()) return parallel_for(options_.threads, parts_.size(), body);
  for (Half& half : halves_) {
    half.sums.finish();
    parallel_for(options_.threads, half.parts.count, [&](std::size_t task) { body(half.parts.first + task); });
  }
}

template <class T>
StepSums FactoredGradient<T>::part_sums(const Part& part, const HeadView<T>& head, const StepBatch<T>& batch,
                                        MatrixView<T> example, MatrixView<T> noise, std::span<T> scratch) {
  const T gradient_scale = T{1} / static_cast<T>(batch.whole_batch() * options_.virtual_count);
  const VirtualLogits<T> logits = logits_of(part, head, batch);
  StepSums sums;
  // Training examples of the same weight together: all of them, or each by itself.
  const std::size_t together = batch.weights.empty() ? part.count : 1;
  for (std::size_t i = 0; i < part.count; i += together) {
    const VirtualLogits<T> chosen = part_of(logits, i, together);
    const double weight = batch.weight(part.first + i);
    if (options_.classes_are_split()) {
      const Half& half = part.first < halves_.back().first_example ? halves_.front() : halves_.back();
      const std::size_t place = part.first + i - half.first_example;
      sums += half.sums.common(place, together, weight);
      if (noise.empty()) continue;
      sums.loss += weight * block_gradient(chosen, half.sums.log_sum(place, together), options_.classes,
                                           options_.label_smoothing, static_cast<T>(weight) * gradient_scale,
                                           example.rows_at(i, together), noise);
    } else if (noise.empty()) {
      sums.add({0.0, virtual_correct(chosen)}, weight);
    } else {
      sums.add(virtual_softmax_gradient(chosen, options_.label_smoothing, static_cast<T>(weight) * gradient_scale,
                                        options_.count_correct, example.rows_at(i, together), noise, scratch),
               weight);
    }
  }
  return sums;
}

template <class T>
StepSums FactoredGradient<T>::loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch,
                                            StepGradient<T>& gradient) {
  prepare(head, batch);
  exchange_sums(head, batch, options_.count_correct);
  const std::size_t classes = head.weights.rows();
  const std::size_t examples = batch.rows.rows();
  const std::size_t count = options_.virtual_count;
  const auto logit_gradient = reuse(gradient_, examples + noise_rows(), classes);
  const auto part_gradient = reuse(part_gradient_, parts_.size() * count, classes);
  const std::size_t scratch_size = virtual_softmax_scratch(classes, kExamplesPerPart, count);
  const auto scratch = reuse(scratch_, parts_.size(), scratch_size);
  sums_.assign(parts_.size(), {});
  for_parts([&](std::size_t task) {
    const Part& part = parts_[task];
    const auto part_example = logit_gradient.rows_at(part.first, part.count);
    const auto part_noise = part_gradient.rows_at(task * count, count);
    std::fill_n(part_example.data(), part.count * classes, T{0});
    std::fill_n(part_noise.data(), count * classes, T{0});
    sums_[task] = part_sums(part, head, batch, part_example, part_noise, scratch.row(task));
  });
  fold_noise_gradient(logit_gradient.rows_at(examples, noise_rows()));
  multiply_gradient(ConstMatrixView<T>(logit_gradient), ConstMatrixView<T>(stack_), T{0}, true, options_.threads,
                    gradient);
  if (head.kind == HeadKind::kLinear) {
    std::fill(gradient.bias.begin(), gradient.bias.end(), T{0});
    for (std::size_t i = 0; i < examples; ++i) {
      add_row(std::span<const T>(logit_gradient.row(i)), std::span<T>(gradient.bias));
    }
  }
  StepSums total;
  for (const StepSums& part : sums_) total += part;
  return {total.loss / static_cast<double>(batch.whole_batch() * count), total.correct};
}

template <class T>
double FactoredGradient<T>::correct(const HeadView<T>& head, const StepBatch<T>& batch) {
  prepare(head, batch);
  exchange_sums(head, batch, true);
  sums_.assign(parts_.size(), {});
  for_parts([&](std::size_t task) { sums_[task] = part_sums(parts_[task], head, batch, {}, {}, {}); });
  StepSums total;
  for (const StepSums& part : sums_) total += part;
  return total.correct;
}

template class FactoredGradient<float>;
template class FactoredGradient<double>;

}  // namespace annulus
