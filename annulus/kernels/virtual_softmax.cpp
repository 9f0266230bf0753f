// One exponential for every (original, noise row, class), four noise rows at a time, nothing of that size stored.
#include "annulus/kernels/virtual_softmax.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/virtual_softmax.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// keep the order: math-inl needs highway.h
#include <hwy/contrib/math/math-inl.h>

#ifndef ANNULUS_KERNELS_VIRTUAL_SOFTMAX_BLOCK
#define ANNULUS_KERNELS_VIRTUAL_SOFTMAX_BLOCK
namespace annulus {

inline constexpr std::size_t kNoiseBlock = 4;  // noise rows handled together: their exponentials fill the pipelines

}  // namespace annulus
#endif

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Exponentials are taken of numbers in units of `kUnit`: float works in powers of two, which saves a multiplication.
template <class T>
inline constexpr T kUnit = std::is_same_v<T, float> ? static_cast<T>(1.4426950408889634) : T{1};

// Degree-5 fit of 2^f on [-1/2, 1/2], largest relative error 7.5e-8.
inline constexpr float kPower0 = 1.0000000716542108F;
inline constexpr float kPower1 = 0.6931469670500828F;
inline constexpr float kPower2 = 0.2402211972537346F;
inline constexpr float kPower3 = 0.055507132974691925F;
inline constexpr float kPower4 = 0.009675541272859176F;
inline constexpr float kPower5 = 0.0013276464243910553F;

// e^x of x in units of kUnit, for x <= 0 up to rounding: for float 2^x, relative error below 2e-7; below 2^-126 it
// stays there.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    const hn::RebindToSigned<D> di;
    x = hn::Max(x, hn::Set(d, -126.0F));
    // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
    const auto magic = hn::Set(d, 12582912.0F);
    const auto shifted = hn::Add(x, magic);
    const auto fraction = hn::Sub(x, hn::Sub(shifted, magic));
    auto power = hn::MulAdd(fraction, hn::Set(d, kPower5), hn::Set(d, kPower4));
    power = hn::MulAdd(fraction, power, hn::Set(d, kPower3));
    power = hn::MulAdd(fraction, power, hn::Set(d, kPower2));
    power = hn::MulAdd(fraction, power, hn::Set(d, kPower1));
    power = hn::MulAdd(fraction, power, hn::Set(d, kPower0));
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
    return hn::BitCast(d, hn::Add(hn::BitCast(di, power), exponent));
  } else {
    return hn::Exp(d, x);
  }
}

// The first `count` numbers at `from`, zeros after them; reads no further.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* from, std::size_t count) {
  HWY_ALIGN hn::TFromD<D> padded[hn::MaxLanes(d)] = {};
  std::copy(from, from + count, padded);
  return hn::Load(d, padded);
}

template <class D>
HWY_INLINE void store_first(D d, hn::Vec<D> value, hn::TFromD<D>* to, std::size_t count) {
  HWY_ALIGN hn::TFromD<D> padded[hn::MaxLanes(d)];
  hn::Store(value, d, padded);
  std::copy(padded, padded + count, to);
}

template <class T>
struct PairTerms {
  const T* noise;     // row r of the noise logits
  T* noise_gradient;  // row r of its gradient
  T* exponentials;    // scratch of one row
  T factor;           // scale(i, r) in units of kUnit
  T shift;            // subtracted, in units of kUnit
};

// exponentials = exp(factor * (original + noise) - shift) for kCount noise rows at once; sums into `sums`.
template <std::size_t kCount, class T>
HWY_INLINE void exponential_rows(const T* original, const PairTerms<T>* terms, std::size_t classes, T* sums) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  V total[kCount];
  V factor[kCount];
  V shift[kCount];
  for (std::size_t q = 0; q < kCount; ++q) {
    total[q] = hn::Zero(d);
    factor[q] = hn::Set(d, terms[q].factor);
    shift[q] = hn::Set(d, terms[q].shift);
  }
  std::size_t j = 0;
  for (; j + lanes <= classes; j += lanes) {
    const V base = hn::LoadU(d, original + j);
    for (std::size_t q = 0; q < kCount; ++q) {
      const V logit = hn::Add(base, hn::LoadU(d, terms[q].noise + j));
      const V value = exponential(d, hn::MulSub(logit, factor[q], shift[q]));
      total[q] = hn::Add(total[q], value);
      hn::StoreU(value, d, terms[q].exponentials + j);
    }
  }
  if (j < classes) {
    const std::size_t left = classes - j;
    const auto mask = hn::FirstN(d, left);
    const V base = load_first(d, original + j, left);
    for (std::size_t q = 0; q < kCount; ++q) {
      const V logit = hn::Add(base, load_first(d, terms[q].noise + j, left));
      const V value = hn::IfThenElseZero(mask, exponential(d, hn::MulSub(logit, factor[q], shift[q])));
      total[q] = hn::Add(total[q], value);
      store_first(d, value, terms[q].exponentials + j, left);
    }
  }
  for (std::size_t q = 0; q < kCount; ++q) sums[q] = hn::GetLane(hn::SumOfLanes(d, total[q]));
}

// Adds weight[q] * exponentials to the gradient rows of the original and of the noise rows.
template <std::size_t kCount, class T>
HWY_INLINE void accumulate_rows(T* original_gradient, const PairTerms<T>* terms, const T* weights,
                                std::size_t classes) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  V weight[kCount];
  for (std::size_t q = 0; q < kCount; ++q) weight[q] = hn::Set(d, weights[q]);
  std::size_t j = 0;
  for (; j + lanes <= classes; j += lanes) {
    V original = hn::LoadU(d, original_gradient + j);
    for (std::size_t q = 0; q < kCount; ++q) {
      const V value = hn::LoadU(d, terms[q].exponentials + j);
      T* noise = terms[q].noise_gradient + j;
      hn::StoreU(hn::MulAdd(value, weight[q], hn::LoadU(d, noise)), d, noise);
      original = hn::MulAdd(value, weight[q], original);
    }
    hn::StoreU(original, d, original_gradient + j);
  }
  for (; j < classes; ++j) {
    for (std::size_t q = 0; q < kCount; ++q) {
      const T value = terms[q].exponentials[j] * weights[q];
      terms[q].noise_gradient[j] += value;
      original_gradient[j] += value;
    }
  }
}

template <class T>
HWY_INLINE T largest_sum(const T* a, const T* b, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  T best = a[0] + b[0];
  std::size_t j = 0;
  if (count >= lanes) {
    auto best_vector = hn::Add(hn::LoadU(d, a), hn::LoadU(d, b));
    for (j = lanes; j + lanes <= count; j += lanes) {
      best_vector = hn::Max(best_vector, hn::Add(hn::LoadU(d, a + j), hn::LoadU(d, b + j)));
    }
    best = hn::GetLane(hn::MaxOfLanes(d, best_vector));
  }
  for (; j < count; ++j) best = std::max(best, a[j] + b[j]);
  return best;
}

template <class T>
struct RowStatistics {
  T largest;
  T mean;
};

template <class T>
RowStatistics<T> row_statistics(const T* row, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto best = hn::Set(d, row[0]);
  auto sum = hn::Zero(d);
  T tail_best = row[0];
  T tail_sum = 0;
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto value = hn::LoadU(d, row + j);
    best = hn::Max(best, value);
    sum = hn::Add(sum, value);
  }
  for (; j < count; ++j) {
    tail_best = std::max(tail_best, row[j]);
    tail_sum += row[j];
  }
  return {std::max(hn::GetLane(hn::MaxOfLanes(d, best)), tail_best),
          (hn::GetLane(hn::SumOfLanes(d, sum)) + tail_sum) / static_cast<T>(count)};
}

template <class T>
void add_constant(T* row, std::size_t count, T constant) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, row + j), hn::Set(d, constant)), d, row + j);
  }
  for (; j < count; ++j) row[j] += constant;
}

// All originals against the kCount noise rows that start at `first`.
template <std::size_t kCount, class T>
HWY_INLINE double noise_block(const VirtualLogits<T>& logits, std::size_t first, T smoothing, T gradient_scale,
                              MatrixView<T> original_gradient, MatrixView<T> noise_gradient,
                              const RowStatistics<T>* originals, T* buffer) {
  const std::size_t classes = logits.original.cols();
  // A sum below this means that the shift, an upper bound, was far above the largest logit: take the exact maximum.
  const T smallest_sum = std::is_same_v<T, float> ? T{1e-25F} : static_cast<T>(1e-200);
  PairTerms<T> terms[kCount];
  RowStatistics<T> noise[kCount];
  T scale_sums[kCount] = {};
  for (std::size_t q = 0; q < kCount; ++q) {
    terms[q].noise = logits.noise.data() + (first + q) * logits.noise.stride();
    terms[q].noise_gradient = noise_gradient.data() + (first + q) * noise_gradient.stride();
    terms[q].exponentials = buffer + q * classes;
    noise[q] = row_statistics(terms[q].noise, classes);
  }
  double loss = 0.0;
  for (std::size_t i = 0; i < logits.original.rows(); ++i) {
    const T* original = logits.original.data() + i * logits.original.stride();
    T* gradient = original_gradient.data() + i * original_gradient.stride();
    const T* scales = logits.scale.data() + i * logits.scale.stride() + first;
    const auto label = static_cast<std::size_t>(logits.labels[i]);
    for (std::size_t q = 0; q < kCount; ++q) {
      terms[q].factor = scales[q] * kUnit<T>;
      terms[q].shift = terms[q].factor * (originals[i].largest + noise[q].largest);
    }
    T sums[kCount];
    exponential_rows<kCount>(original, terms, classes, sums);
    T weights[kCount];
    for (std::size_t q = 0; q < kCount; ++q) {
      if (!(sums[q] >= smallest_sum)) {
        terms[q].shift = terms[q].factor * largest_sum(original, terms[q].noise, classes);
        exponential_rows<1>(original, terms + q, classes, sums + q);
      }
      weights[q] = gradient_scale * scales[q] / sums[q];
      const T label_logit = scales[q] * (original[label] + terms[q].noise[label]);
      const T mean_logit = scales[q] * (originals[i].mean + noise[q].mean);
      loss += static_cast<double>(terms[q].shift / kUnit<T> + std::log(sums[q]) - (T{1} - smoothing) * label_logit -
                                  smoothing * mean_logit);
    }
    accumulate_rows<kCount>(gradient, terms, weights, classes);
    for (std::size_t q = 0; q < kCount; ++q) {
      const T target = gradient_scale * (T{1} - smoothing) * scales[q];
      terms[q].noise_gradient[label] -= target;
      gradient[label] -= target;
      scale_sums[q] += scales[q];
    }
  }
  for (std::size_t q = 0; q < kCount; ++q) {
    add_constant(terms[q].noise_gradient, classes,
                 -gradient_scale * smoothing * scale_sums[q] / static_cast<T>(classes));
  }
  return loss;
}

template <class T>
double gradient(const VirtualLogits<T>& logits, T smoothing, T gradient_scale, MatrixView<T> original_gradient,
                MatrixView<T> noise_gradient, T* scratch) {
  const std::size_t originals = logits.original.rows();
  const std::size_t noise_rows = logits.noise.rows();
  const std::size_t classes = logits.original.cols();
  auto* statistics = reinterpret_cast<RowStatistics<T>*>(scratch);
  static_assert(sizeof(RowStatistics<T>) == 2 * sizeof(T));
  T* buffer = scratch + 2 * originals;
  for (std::size_t i = 0; i < originals; ++i) {
    statistics[i] = row_statistics(logits.original.data() + i * logits.original.stride(), classes);
  }
  double loss = 0.0;
  std::size_t first = 0;
  for (; first + kNoiseBlock <= noise_rows; first += kNoiseBlock) {
    loss += noise_block<kNoiseBlock>(logits, first, smoothing, gradient_scale, original_gradient, noise_gradient,
                                     statistics, buffer);
  }
  for (; first < noise_rows; ++first) {
    loss +=
        noise_block<1>(logits, first, smoothing, gradient_scale, original_gradient, noise_gradient, statistics, buffer);
  }
  for (std::size_t i = 0; i < originals; ++i) {
    T scale_sum = 0;
    for (std::size_t r = 0; r < noise_rows; ++r) scale_sum += logits.scale(i, r);
    add_constant(original_gradient.data() + i * original_gradient.stride(), classes,
                 -gradient_scale * smoothing * scale_sum / static_cast<T>(classes));
  }
  return loss;
}

template <class T>
std::size_t hits(const VirtualLogits<T>& logits) {
  const std::size_t classes = logits.original.cols();
  std::size_t count = 0;
  for (std::size_t r = 0; r < logits.noise.rows(); ++r) {
    const T* noise = logits.noise.data() + r * logits.noise.stride();
    for (std::size_t i = 0; i < logits.original.rows(); ++i) {
      const T* original = logits.original.data() + i * logits.original.stride();
      const auto label = static_cast<std::size_t>(logits.labels[i]);
      if (original[label] + noise[label] >= largest_sum(original, noise, classes)) ++count;
    }
  }
  return count;
}

double gradient_float(const VirtualLogits<float>& logits, float smoothing, float gradient_scale,
                      MatrixView<float> original_gradient, MatrixView<float> noise_gradient, float* scratch) {
  return gradient(logits, smoothing, gradient_scale, original_gradient, noise_gradient, scratch);
}
double gradient_double(const VirtualLogits<double>& logits, double smoothing, double gradient_scale,
                       MatrixView<double> original_gradient, MatrixView<double> noise_gradient, double* scratch) {
  return gradient(logits, smoothing, gradient_scale, original_gradient, noise_gradient, scratch);
}
std::size_t hits_float(const VirtualLogits<float>& logits) { return hits(logits); }
std::size_t hits_double(const VirtualLogits<double>& logits) { return hits(logits); }

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(gradient_float);
HWY_EXPORT(gradient_double);
HWY_EXPORT(hits_float);
HWY_EXPORT(hits_double);

std::size_t virtual_softmax_scratch(std::size_t classes, std::size_t originals) {
  return 2 * originals + kNoiseBlock * classes;
}

template <>
double virtual_softmax_gradient(const VirtualLogits<float>& logits, float smoothing, float gradient_scale,
                                MatrixView<float> original_gradient, MatrixView<float> noise_gradient,
                                std::span<float> scratch) {
  assert(scratch.size() >= virtual_softmax_scratch(logits.original.cols(), logits.original.rows()));
  return HWY_DYNAMIC_DISPATCH(gradient_float)(logits, smoothing, gradient_scale, original_gradient, noise_gradient,
                                              scratch.data());
}

template <>
double virtual_softmax_gradient(const VirtualLogits<double>& logits, double smoothing, double gradient_scale,
                                MatrixView<double> original_gradient, MatrixView<double> noise_gradient,
                                std::span<double> scratch) {
  assert(scratch.size() >= virtual_softmax_scratch(logits.original.cols(), logits.original.rows()));
  return HWY_DYNAMIC_DISPATCH(gradient_double)(logits, smoothing, gradient_scale, original_gradient, noise_gradient,
                                               scratch.data());
}

template <>
std::size_t virtual_hits(const VirtualLogits<float>& logits) {
  return HWY_DYNAMIC_DISPATCH(hits_float)(logits);
}

template <>
std::size_t virtual_hits(const VirtualLogits<double>& logits) {
  return HWY_DYNAMIC_DISPATCH(hits_double)(logits);
}

}  // namespace annulus
#endif
