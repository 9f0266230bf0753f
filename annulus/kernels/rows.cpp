// Operations on rows with Highway, for float and double.
#include "annulus/kernels/rows.h"

#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Several sums at a time, so that additions do not wait for each other.
template <class T>
T squared_length_impl(const T* row, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  std::size_t j = 0;
  for (; j + 4 * lanes <= count; j += 4 * lanes) {
    const auto value0 = hn::LoadU(d, row + j);
    const auto value1 = hn::LoadU(d, row + j + lanes);
    const auto value2 = hn::LoadU(d, row + j + 2 * lanes);
    const auto value3 = hn::LoadU(d, row + j + 3 * lanes);
    sum0 = hn::MulAdd(value0, value0, sum0);
    sum1 = hn::MulAdd(value1, value1, sum1);
    sum2 = hn::MulAdd(value2, value2, sum2);
    sum3 = hn::MulAdd(value3, value3, sum3);
  }
  for (; j + lanes <= count; j += lanes) {
    const auto value = hn::LoadU(d, row + j);
    sum0 = hn::MulAdd(value, value, sum0);
  }
  T total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; j < count; ++j) total += row[j] * row[j];
  return total;
}

template <class T>
void multiply_impl(const T* row, const T* shape, T* out, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + j), hn::LoadU(d, shape + j)), d, out + j);
  }
  for (; j < count; ++j) out[j] = row[j] * shape[j];
}

template <class T>
void scale_impl(T* row, std::size_t count, T factor) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + j), hn::Set(d, factor)), d, row + j);
  for (; j < count; ++j) row[j] *= factor;
}

template <class T>
T virtual_row_impl(const T* example, const T* shape, const T* noise, T radius, T* out, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto move = hn::Mul(hn::Mul(hn::Set(d, radius), hn::LoadU(d, shape + j)), hn::LoadU(d, noise + j));
    const auto value = hn::Add(hn::LoadU(d, example + j), move);
    hn::StoreU(value, d, out + j);
    sum = hn::MulAdd(value, value, sum);
  }
  T total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; j < count; ++j) {
    out[j] = example[j] + radius * shape[j] * noise[j];
    total += out[j] * out[j];
  }
  return total;
}

template <class T>
void add_impl(const T* row, T* out, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) hn::StoreU(hn::Add(hn::LoadU(d, row + j), hn::LoadU(d, out + j)), d, out + j);
  for (; j < count; ++j) out[j] += row[j];
}

float squared_length_float(const float* row, std::size_t count) { return squared_length_impl(row, count); }
double squared_length_double(const double* row, std::size_t count) { return squared_length_impl(row, count); }
void multiply_float(const float* row, const float* shape, float* out, std::size_t count) {
  multiply_impl(row, shape, out, count);
}
void multiply_double(const double* row, const double* shape, double* out, std::size_t count) {
  multiply_impl(row, shape, out, count);
}
void scale_float(float* row, std::size_t count, float factor) { scale_impl(row, count, factor); }
void scale_double(double* row, std::size_t count, double factor) { scale_impl(row, count, factor); }
float virtual_row_float(const float* example, const float* shape, const float* noise, float radius, float* out,
                        std::size_t count) {
  return virtual_row_impl(example, shape, noise, radius, out, count);
}
double virtual_row_double(const double* example, const double* shape, const double* noise, double radius, double* out,
                          std::size_t count) {
  return virtual_row_impl(example, shape, noise, radius, out, count);
}
void add_float(const float* row, float* out, std::size_t count) { add_impl(row, out, count); }
void add_double(const double* row, double* out, std::size_t count) { add_impl(row, out, count); }

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(squared_length_float);
HWY_EXPORT(squared_length_double);
HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(scale_float);
HWY_EXPORT(scale_double);
HWY_EXPORT(virtual_row_float);
HWY_EXPORT(virtual_row_double);
HWY_EXPORT(add_float);
HWY_EXPORT(add_double);

template <>
float squared_length(std::span<const float> row) {
  return HWY_DYNAMIC_DISPATCH(squared_length_float)(row.data(), row.size());
}
template <>
double squared_length(std::span<const double> row) {
  return HWY_DYNAMIC_DISPATCH(squared_length_double)(row.data(), row.size());
}

template <>
void multiply_row(std::span<const float> row, std::span<const float> shape, std::span<float> out) {
  assert(row.size() == shape.size() && out.size() == shape.size());
  HWY_DYNAMIC_DISPATCH(multiply_float)(row.data(), shape.data(), out.data(), out.size());
}
template <>
void multiply_row(std::span<const double> row, std::span<const double> shape, std::span<double> out) {
  assert(row.size() == shape.size() && out.size() == shape.size());
  HWY_DYNAMIC_DISPATCH(multiply_double)(row.data(), shape.data(), out.data(), out.size());
}

template <>
void scale_row(std::span<float> row, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_float)(row.data(), row.size(), factor);
}
template <>
void scale_row(std::span<double> row, double factor) {
  HWY_DYNAMIC_DISPATCH(scale_double)(row.data(), row.size(), factor);
}

template <>
float virtual_row(std::span<const float> example, std::span<const float> shape, std::span<const float> noise,
                  float radius, std::span<float> out) {
  assert(shape.size() == example.size() && noise.size() == example.size() && out.size() == example.size());
  return HWY_DYNAMIC_DISPATCH(virtual_row_float)(example.data(), shape.data(), noise.data(), radius, out.data(),
                                                 out.size());
}
template <>
double virtual_row(std::span<const double> example, std::span<const double> shape, std::span<const double> noise,
                   double radius, std::span<double> out) {
  assert(shape.size() == example.size() && noise.size() == example.size() && out.size() == example.size());
  return HWY_DYNAMIC_DISPATCH(virtual_row_double)(example.data(), shape.data(), noise.data(), radius, out.data(),
                                                  out.size());
}

template <>
void add_row(std::span<const float> row, std::span<float> out) {
  assert(row.size() == out.size());
  HWY_DYNAMIC_DISPATCH(add_float)(row.data(), out.data(), out.size());
}
template <>
void add_row(std::span<const double> row, std::span<double> out) {
  assert(row.size() == out.size());
  HWY_DYNAMIC_DISPATCH(add_double)(row.data(), out.data(), out.size());
}

}  // namespace annulus
#endif
