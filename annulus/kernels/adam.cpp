// Fused Adam updates of rows with Highway, for float and double.
#include "annulus/kernels/adam.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/adam.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls vector_body(j) for whole vectors and tail_body(j) for the remaining values.
template <class T, class VectorBody, class TailBody>
HWY_INLINE void for_each(std::size_t count, const VectorBody& vector_body, const TailBody& tail_body) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) vector_body(j);
  for (; j < count; ++j) tail_body(j);
}

template <class T>
HWY_INLINE void update_one(const AdamStep<T>& step, T gradient, T& first, T& second, T& parameter) {
  first = step.beta1 * first + step.rest1 * gradient;
  second = step.beta2 * second + step.rest2 * gradient * gradient;
  parameter -= step.step_size * first / (std::sqrt(second) * step.second_scale + step.guard);
}

template <class T>
HWY_INLINE void update_row(const AdamStep<T>& step, std::size_t count, const T* gradient, T* first, T* second,
                           T* parameters) {
  const hn::ScalableTag<T> d;
  const auto beta1 = hn::Set(d, step.beta1);
  const auto beta2 = hn::Set(d, step.beta2);
  const auto rest1 = hn::Set(d, step.rest1);
  const auto rest2 = hn::Set(d, step.rest2);
  const auto step_size = hn::Set(d, step.step_size);
  const auto second_scale = hn::Set(d, step.second_scale);
  const auto guard = hn::Set(d, step.guard);
  for_each<T>(
      count,
      [&](std::size_t j) {
        const auto g = hn::LoadU(d, gradient + j);
        const auto m = hn::MulAdd(beta1, hn::LoadU(d, first + j), hn::Mul(rest1, g));
        const auto v = hn::MulAdd(beta2, hn::LoadU(d, second + j), hn::Mul(rest2, hn::Mul(g, g)));
        hn::StoreU(m, d, first + j);
        hn::StoreU(v, d, second + j);
        const auto move = hn::Div(hn::Mul(step_size, m), hn::MulAdd(hn::Sqrt(v), second_scale, guard));
        hn::StoreU(hn::Sub(hn::LoadU(d, parameters + j), move), d, parameters + j);
      },
      [&](std::size_t j) { update_one(step, gradient[j], first[j], second[j], parameters[j]); });
}

template <class T>
HWY_INLINE T dot(std::size_t count, const T* a, const T* b) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  T tail = 0;
  for_each<T>(
      count, [&](std::size_t j) { sum = hn::MulAdd(hn::LoadU(d, a + j), hn::LoadU(d, b + j), sum); },
      [&](std::size_t j) { tail += a[j] * b[j]; });
  return hn::GetLane(hn::SumOfLanes(d, sum)) + tail;
}

template <class T>
T weight_norm_row(const AdamStep<T>& step, std::size_t count, T* direction, T* gain, T* gradient,
                  const AdamMoments<T>& moments, T* weights) {
  const hn::ScalableTag<T> d;
  const T length = std::sqrt(dot(count, direction, direction));
  const T gain_gradient = dot(count, gradient, direction) / length;
  // dL/dv = g / |v| * (dL/dw - (dL/dg / |v|) v)
  const T factor = *gain / length;
  const T along = gain_gradient / length;
  for_each<T>(
      count,
      [&](std::size_t j) {
        const auto across = hn::NegMulAdd(hn::Set(d, along), hn::LoadU(d, direction + j), hn::LoadU(d, gradient + j));
        hn::StoreU(hn::Mul(hn::Set(d, factor), across), d, gradient + j);
      },
      [&](std::size_t j) { gradient[j] = factor * (gradient[j] - along * direction[j]); });
  update_row(step, count, gradient, moments.first, moments.second, direction);
  update_one(step, gain_gradient, *moments.first_offset, *moments.second_offset, *gain);
  const T scale = *gain / std::sqrt(dot(count, direction, direction));
  for_each<T>(
      count,
      [&](std::size_t j) { hn::StoreU(hn::Mul(hn::Set(d, scale), hn::LoadU(d, direction + j)), d, weights + j); },
      [&](std::size_t j) { weights[j] = scale * direction[j]; });
  return gain_gradient;
}

template <class T>
void plain_row(const AdamStep<T>& step, std::size_t count, T* weights, T* bias, const T* gradient, T bias_gradient,
               const AdamMoments<T>& moments) {
  update_row(step, count, gradient, moments.first, moments.second, weights);
  update_one(step, bias_gradient, *moments.first_offset, *moments.second_offset, *bias);
}

float weight_norm_row_float(const AdamStep<float>& step, std::size_t count, float* direction, float* gain,
                            float* gradient, const AdamMoments<float>& moments, float* weights) {
  return weight_norm_row(step, count, direction, gain, gradient, moments, weights);
}
double weight_norm_row_double(const AdamStep<double>& step, std::size_t count, double* direction, double* gain,
                              double* gradient, const AdamMoments<double>& moments, double* weights) {
  return weight_norm_row(step, count, direction, gain, gradient, moments, weights);
}
void plain_row_float(const AdamStep<float>& step, std::size_t count, float* weights, float* bias, const float* gradient,
                     float bias_gradient, const AdamMoments<float>& moments) {
  plain_row(step, count, weights, bias, gradient, bias_gradient, moments);
}
void plain_row_double(const AdamStep<double>& step, std::size_t count, double* weights, double* bias,
                      const double* gradient, double bias_gradient, const AdamMoments<double>& moments) {
  plain_row(step, count, weights, bias, gradient, bias_gradient, moments);
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(weight_norm_row_float);
HWY_EXPORT(weight_norm_row_double);
HWY_EXPORT(plain_row_float);
HWY_EXPORT(plain_row_double);

template <class T>
AdamStep<T> AdamStep<T>::at(double learning_rate, std::size_t step, double beta1, double beta2, double guard) {
  const auto exponent = static_cast<double>(step);
  return {static_cast<T>(beta1),
          static_cast<T>(beta2),
          static_cast<T>(1.0 - beta1),
          static_cast<T>(1.0 - beta2),
          static_cast<T>(learning_rate / (1.0 - std::pow(beta1, exponent))),
          static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(beta2, exponent))),
          static_cast<T>(guard)};
}
template struct AdamStep<float>;
template struct AdamStep<double>;

template <>
float adam_weight_norm_row(const AdamStep<float>& step, std::size_t count, float* direction, float* gain,
                           float* gradient, const AdamMoments<float>& moments, float* weights) {
  return HWY_DYNAMIC_DISPATCH(weight_norm_row_float)(step, count, direction, gain, gradient, moments, weights);
}

template <>
double adam_weight_norm_row(const AdamStep<double>& step, std::size_t count, double* direction, double* gain,
                            double* gradient, const AdamMoments<double>& moments, double* weights) {
  return HWY_DYNAMIC_DISPATCH(weight_norm_row_double)(step, count, direction, gain, gradient, moments, weights);
}

template <>
void adam_plain_row(const AdamStep<float>& step, std::size_t count, float* weights, float* bias, const float* gradient,
                    float bias_gradient, const AdamMoments<float>& moments) {
  HWY_DYNAMIC_DISPATCH(plain_row_float)(step, count, weights, bias, gradient, bias_gradient, moments);
}

template <>
void adam_plain_row(const AdamStep<double>& step, std::size_t count, double* weights, double* bias,
                    const double* gradient, double bias_gradient, const AdamMoments<double>& moments) {
  HWY_DYNAMIC_DISPATCH(plain_row_double)(step, count, weights, bias, gradient, bias_gradient, moments);
}

}  // namespace annulus
#endif
