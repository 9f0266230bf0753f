// Row softmax with Highway: one pass for the maximum, one for the exponentials, one to scale.
#include "annulus/kernels/softmax_loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/softmax_loss.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// keep the order: math-inl needs highway.h
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T row_max(const T* row, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  T best = row[0];
  std::size_t j = 0;
  if (count >= lanes) {
    auto vector_best = hn::LoadU(d, row);
    for (j = lanes; j + lanes <= count; j += lanes) vector_best = hn::Max(vector_best, hn::LoadU(d, row + j));
    best = hn::GetLane(hn::MaxOfLanes(d, vector_best));
  }
  for (; j < count; ++j) best = std::max(best, row[j]);
  return best;
}

// row[j] = exp(row[j] - shift); returns the sum, and the sum of the inputs in `plain_sum`.
template <class T>
T exponentials(T* row, std::size_t count, T shift, T& plain_sum) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto vector_shift = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  auto plain = hn::Zero(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto logit = hn::LoadU(d, row + j);
    const auto exponential = hn::Exp(d, hn::Sub(logit, vector_shift));
    plain = hn::Add(plain, logit);
    sum = hn::Add(sum, exponential);
    hn::StoreU(exponential, d, row + j);
  }
  T total = hn::GetLane(hn::SumOfLanes(d, sum));
  plain_sum = hn::GetLane(hn::SumOfLanes(d, plain));
  for (; j < count; ++j) {
    plain_sum += row[j];
    row[j] = std::exp(row[j] - shift);
    total += row[j];
  }
  return total;
}

// row[j] = row[j] * factor + offset.
template <class T>
void scale_and_shift(T* row, std::size_t count, T factor, T offset) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, row + j), hn::Set(d, factor), hn::Set(d, offset)), d, row + j);
  }
  for (; j < count; ++j) row[j] = row[j] * factor + offset;
}

template <class T>
LossSums loss_gradient(T* data, std::size_t rows, std::size_t cols, std::size_t stride, const std::int32_t* labels,
                       T smoothing, T gradient_scale) {
  LossSums sums;
  for (std::size_t i = 0; i < rows; ++i) {
    T* row = data + i * stride;
    const auto label = static_cast<std::size_t>(labels[i]);
    const T label_logit = row[label];
    const T largest = row_max(row, cols);
    if (label_logit >= largest) ++sums.correct;
    T plain_sum;
    const T total = exponentials(row, cols, largest, plain_sum);
    const T mean = plain_sum / static_cast<T>(cols);
    sums.loss += static_cast<double>(largest + std::log(total) - (T{1} - smoothing) * label_logit - smoothing * mean);
    scale_and_shift(row, cols, gradient_scale / total, -gradient_scale * smoothing / static_cast<T>(cols));
    row[label] -= gradient_scale * (T{1} - smoothing);
  }
  return sums;
}

template <class T>
void softmax(T* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  for (std::size_t i = 0; i < rows; ++i) {
    T* row = data + i * stride;
    T plain_sum;
    const T total = exponentials(row, cols, row_max(row, cols), plain_sum);
    scale_and_shift(row, cols, T{1} / total, T{0});
  }
}

LossSums loss_gradient_float(float* data, std::size_t rows, std::size_t cols, std::size_t stride,
                             const std::int32_t* labels, float smoothing, float gradient_scale) {
  return loss_gradient(data, rows, cols, stride, labels, smoothing, gradient_scale);
}
LossSums loss_gradient_double(double* data, std::size_t rows, std::size_t cols, std::size_t stride,
                              const std::int32_t* labels, double smoothing, double gradient_scale) {
  return loss_gradient(data, rows, cols, stride, labels, smoothing, gradient_scale);
}
void softmax_float(float* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  softmax(data, rows, cols, stride);
}
void softmax_double(double* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  softmax(data, rows, cols, stride);
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(loss_gradient_float);
HWY_EXPORT(loss_gradient_double);
HWY_EXPORT(softmax_float);
HWY_EXPORT(softmax_double);

template <>
LossSums softmax_loss_gradient(MatrixView<float> logits, std::span<const std::int32_t> labels, float smoothing,
                               float gradient_scale) {
  assert(labels.size() == logits.rows());
  return HWY_DYNAMIC_DISPATCH(loss_gradient_float)(logits.data(), logits.rows(), logits.cols(), logits.stride(),
                                                   labels.data(), smoothing, gradient_scale);
}

template <>
LossSums softmax_loss_gradient(MatrixView<double> logits, std::span<const std::int32_t> labels, double smoothing,
                               double gradient_scale) {
  assert(labels.size() == logits.rows());
  return HWY_DYNAMIC_DISPATCH(loss_gradient_double)(logits.data(), logits.rows(), logits.cols(), logits.stride(),
                                                    labels.data(), smoothing, gradient_scale);
}

template <>
void softmax_rows(MatrixView<float> logits) {
  HWY_DYNAMIC_DISPATCH(softmax_float)(logits.data(), logits.rows(), logits.cols(), logits.stride());
}

template <>
void softmax_rows(MatrixView<double> logits) {
  HWY_DYNAMIC_DISPATCH(softmax_double)(logits.data(), logits.rows(), logits.cols(), logits.stride());
}

template <class T>
std::size_t argmax(std::span<const T> row) {
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}
template std::size_t argmax(std::span<const float>);
template std::size_t argmax(std::span<const double>);

}  // namespace annulus
#endif
