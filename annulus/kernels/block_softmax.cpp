// Two passes over the logits of a block: the sums first, then the gradients once the sums of all blocks are known.
#include "annulus/kernels/block_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/block_softmax.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// keep the order: this needs highway.h
#include "annulus/kernels/exponential-inl.h"

#ifndef ANNULUS_KERNELS_BLOCK_SOFTMAX_SIZES
#define ANNULUS_KERNELS_BLOCK_SOFTMAX_SIZES
namespace annulus {

inline constexpr std::size_t kNoiseTogether = 2;    // noise rows: as many as fit in the registers
inline constexpr std::size_t kClassesAtOnce = 512;  // their gradients stay in the cache during a pass over all pairs

}  // namespace annulus
#endif

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T* row_at(MatrixView<T> matrix, std::size_t row) {
  return matrix.data() + row * matrix.stride();
}

template <class T>
T row_sum(const T* row, std::size_t count) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= count; j += hn::Lanes(d)) sum = hn::Add(sum, hn::LoadU(d, row + j));
  T total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; j < count; ++j) total += row[j];
  return total;
}

template <class T>
void add_constant_to(T* row, std::size_t count, T constant) {
  for (std::size_t j = 0; j < count; ++j) row[j] += constant;
}

// The largest of a + b.
template <class T>
HWY_INLINE T largest_of(const T* a, const T* b, std::size_t count) {
  const hn::ScalableTag<T> d;
  auto best = hn::Set(d, a[0] + b[0]);
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= count; j += hn::Lanes(d)) {
    best = hn::Max(best, hn::Add(hn::LoadU(d, a + j), hn::LoadU(d, b + j)));
  }
  T result = hn::GetLane(hn::MaxOfLanes(d, best));
  for (; j < count; ++j) result = std::max(result, a[j] + b[j]);
  return result;
}

// The sum of e^(factor (a + b) - shift) in units of kUnit.
template <class T>
HWY_INLINE T exponential_sum_of(const T* a, const T* b, T factor, T shift, std::size_t count) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const V factors = hn::Set(d, factor);
  const V shifts = hn::Set(d, shift);
  V sums[2] = {hn::Zero(d), hn::Zero(d)};  // two, so that additions are independent
  std::size_t j = 0;
  for (; j + 2 * lanes <= count; j += 2 * lanes) {
    V value[2];
    for (std::size_t q = 0; q < 2; ++q) {
      const std::size_t at = j + q * lanes;
      value[q] = hn::MulSub(hn::Add(hn::LoadU(d, a + at), hn::LoadU(d, b + at)), factors, shifts);
    }
    exponentials<Range::kAny, 2>(d, value);
    for (std::size_t q = 0; q < 2; ++q) sums[q] = hn::Add(sums[q], value[q]);
  }
  for (; j < count; j += lanes) {
    const std::size_t left = std::min(lanes, count - j);
    const V logit = hn::Add(load_first(d, a + j, left), load_first(d, b + j, left));
    const V value = exponential(d, hn::MulSub(logit, factors, shifts));
    sums[0] = hn::Add(sums[0], hn::IfThenElseZero(hn::FirstN(d, left), value));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sums[0], sums[1])));
}

template <class T>
void statistics(const VirtualLogits<T>& logits, const BlockStatistics<T>& out) {
  const std::size_t classes = logits.example.cols();
  for (std::size_t r = 0; r < logits.noise.rows(); ++r) {
    const T* noise = row_at(logits.noise, r);
    for (std::size_t i = 0; i < logits.example.rows(); ++i) {
      const T* example = row_at(logits.example, i);
      const T scale = logits.scale(i, r);
      const T best = largest_of(example, noise, classes);
      const T factor = scale * kUnit<T>;
      const T sum = exponential_sum_of(example, noise, factor, factor * best, classes);
      out.largest(i, r) = scale * best;
      out.log_sum(i, r) = scale * best + std::log(sum);
      const std::int32_t label = logits.labels[i];
      const bool inside = label >= 0 && static_cast<std::size_t>(label) < classes;
      out.label(i, r) = inside ? scale * (example[label] + noise[label]) : std::numeric_limits<T>::lowest();
    }
  }
}

template <class T>
struct NoiseTerms {
  const T* noise;
  T* gradient;
  T factor;  // of the logit, in units of kUnit
  T shift;   // the logarithm of the sum, in units of kUnit
  T weight;
};

// Adds weighted probabilities of `count` classes to the gradient rows of a training example and of kCount noise rows.
template <std::size_t kCount, class T>
HWY_INLINE void add_probabilities(const T* example, T* gradient, const NoiseTerms<T>* terms, std::size_t count) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const V base = hn::LoadU(d, example + j);
    V sum = hn::LoadU(d, gradient + j);
    V value[kCount];
    for (std::size_t q = 0; q < kCount; ++q) {
      value[q] = hn::MulSub(hn::Add(base, hn::LoadU(d, terms[q].noise + j)), hn::Set(d, terms[q].factor),
                            hn::Set(d, terms[q].shift));
    }
    exponentials<Range::kAny, kCount>(d, value);
    for (std::size_t q = 0; q < kCount; ++q) {
      value[q] = hn::Mul(value[q], hn::Set(d, terms[q].weight));
      sum = hn::Add(sum, value[q]);
      hn::StoreU(hn::Add(hn::LoadU(d, terms[q].gradient + j), value[q]), d, terms[q].gradient + j);
    }
    hn::StoreU(sum, d, gradient + j);
  }
  if (j == count) return;
  const std::size_t left = count - j;
  const V base = load_first(d, example + j, left);
  for (std::size_t q = 0; q < kCount; ++q) {
    const V logit = hn::Add(base, load_first(d, terms[q].noise + j, left));
    const V argument = hn::MulSub(logit, hn::Set(d, terms[q].factor), hn::Set(d, terms[q].shift));
    const V value = hn::Mul(exponential(d, argument), hn::Set(d, terms[q].weight));
    store_first(d, hn::Add(load_first(d, gradient + j, left), value), gradient + j, left);
    store_first(d, hn::Add(load_first(d, terms[q].gradient + j, left), value), terms[q].gradient + j, left);
  }
}

template <class T>
struct BlockPass {
  const VirtualLogits<T>& logits;
  ConstMatrixView<T> log_sum;
  T gradient_scale;
  MatrixView<T> example_gradient;
  MatrixView<T> noise_gradient;
};

// All training examples against kCount noise rows, for classes [first, first + count).
template <std::size_t kCount, class T>
HWY_INLINE void add_tile(const BlockPass<T>& pass, std::size_t first_noise, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < pass.logits.example.rows(); ++i) {
    NoiseTerms<T> terms[kCount];
    for (std::size_t q = 0; q < kCount; ++q) {
      const std::size_t r = first_noise + q;
      const T scale = pass.logits.scale(i, r);
      terms[q] = {row_at(pass.logits.noise, r) + first, row_at(pass.noise_gradient, r) + first, scale * kUnit<T>,
                  pass.log_sum(i, r) * kUnit<T>, pass.gradient_scale * scale};
    }
    add_probabilities<kCount>(row_at(pass.logits.example, i) + first, row_at(pass.example_gradient, i) + first, terms,
                              count);
  }
}

// Subtracts the smoothed targets and returns their part of the loss.
template <class T>
double subtract_targets(const BlockPass<T>& pass, std::size_t classes, T smoothing) {
  const VirtualLogits<T>& logits = pass.logits;
  const std::size_t own = logits.example.cols();
  const T fraction = smoothing / static_cast<T>(classes);
  double loss = 0.0;
  for (std::size_t i = 0; i < logits.example.rows(); ++i) {
    const T* example = row_at(logits.example, i);
    const T example_sum = row_sum(example, own);
    const std::int32_t label = logits.labels[i];
    const bool inside = label >= 0 && static_cast<std::size_t>(label) < own;
    T scales = 0;
    for (std::size_t r = 0; r < logits.noise.rows(); ++r) {
      const T scale = logits.scale(i, r);
      const T* noise = row_at(logits.noise, r);
      scales += scale;
      loss -= static_cast<double>(fraction * scale * example_sum);
      if (!inside) continue;
      const T target = pass.gradient_scale * (T{1} - smoothing) * scale;
      row_at(pass.example_gradient, i)[label] -= target;
      row_at(pass.noise_gradient, r)[label] -= target;
      loss -= static_cast<double>((T{1} - smoothing) * scale * (example[label] + noise[label]));
    }
    add_constant_to(row_at(pass.example_gradient, i), own, -pass.gradient_scale * fraction * scales);
  }
  for (std::size_t r = 0; r < logits.noise.rows(); ++r) {
    T scales = 0;
    for (std::size_t i = 0; i < logits.example.rows(); ++i) scales += logits.scale(i, r);
    loss -= static_cast<double>(fraction * scales * row_sum(row_at(logits.noise, r), own));
    add_constant_to(row_at(pass.noise_gradient, r), own, -pass.gradient_scale * fraction * scales);
  }
  return loss;
}

template <class T>
double gradient_of_block(const VirtualLogits<T>& logits, ConstMatrixView<T> log_sum, std::size_t classes, T smoothing,
                         T gradient_scale, MatrixView<T> example_gradient, MatrixView<T> noise_gradient) {
  const BlockPass<T> pass{logits, log_sum, gradient_scale, example_gradient, noise_gradient};
  const std::size_t own = logits.example.cols();
  for (std::size_t first = 0; first < own; first += kClassesAtOnce) {
    const std::size_t count = std::min(kClassesAtOnce, own - first);
    std::size_t r = 0;
    for (; r + kNoiseTogether <= logits.noise.rows(); r += kNoiseTogether) {
      add_tile<kNoiseTogether>(pass, r, first, count);
    }
    for (; r < logits.noise.rows(); ++r) add_tile<1>(pass, r, first, count);
  }
  return subtract_targets(pass, classes, smoothing);
}

void statistics_float(const VirtualLogits<float>& logits, const BlockStatistics<float>& out) {
  statistics(logits, out);
}
void statistics_double(const VirtualLogits<double>& logits, const BlockStatistics<double>& out) {
  statistics(logits, out);
}
double block_float(const VirtualLogits<float>& logits, ConstMatrixView<float> log_sum, std::size_t classes,
                   float smoothing, float gradient_scale, MatrixView<float> example, MatrixView<float> noise) {
  return gradient_of_block(logits, log_sum, classes, smoothing, gradient_scale, example, noise);
}
double block_double(const VirtualLogits<double>& logits, ConstMatrixView<double> log_sum, std::size_t classes,
                    double smoothing, double gradient_scale, MatrixView<double> example, MatrixView<double> noise) {
  return gradient_of_block(logits, log_sum, classes, smoothing, gradient_scale, example, noise);
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(statistics_float);
HWY_EXPORT(statistics_double);
HWY_EXPORT(block_float);
HWY_EXPORT(block_double);

template <>
void block_statistics(const VirtualLogits<float>& logits, const BlockStatistics<float>& out) {
  HWY_DYNAMIC_DISPATCH(statistics_float)(logits, out);
}

template <>
void block_statistics(const VirtualLogits<double>& logits, const BlockStatistics<double>& out) {
  HWY_DYNAMIC_DISPATCH(statistics_double)(logits, out);
}

template <>
double block_gradient(const VirtualLogits<float>& logits, ConstMatrixView<float> log_sum, std::size_t classes,
                      float smoothing, float gradient_scale, MatrixView<float> example_gradient,
                      MatrixView<float> noise_gradient) {
  return HWY_DYNAMIC_DISPATCH(block_float)(logits, log_sum, classes, smoothing, gradient_scale, example_gradient,
                                           noise_gradient);
}

template <>
double block_gradient(const VirtualLogits<double>& logits, ConstMatrixView<double> log_sum, std::size_t classes,
                      double smoothing, double gradient_scale, MatrixView<double> example_gradient,
                      MatrixView<double> noise_gradient) {
  return HWY_DYNAMIC_DISPATCH(block_double)(logits, log_sum, classes, smoothing, gradient_scale, example_gradient,
                                            noise_gradient);
}

}  // namespace annulus
#endif
