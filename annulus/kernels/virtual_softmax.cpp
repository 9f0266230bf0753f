// One exponential for every (example, noise row, class), in blocks of 2 x 2 pairs; nothing of that size is stored.
#include "annulus/kernels/virtual_softmax.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>

#include "annulus/kernels/few_classes_softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/virtual_softmax.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// keep the order: this needs highway.h
#include "annulus/kernels/exponential-inl.h"

#ifndef ANNULUS_KERNELS_VIRTUAL_SOFTMAX_BLOCK
#define ANNULUS_KERNELS_VIRTUAL_SOFTMAX_BLOCK
namespace annulus {

inline constexpr std::size_t kNoiseBlock = 2;    // noise rows handled together: as many as fit in the registers
inline constexpr std::size_t kExampleBlock = 2;  // training examples handled together: share loads of noise gradients

}  // namespace annulus
#endif

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct RowStatistics {
  T largest;
  T smallest;
  T mean;
};

template <class T>
struct PairTerms {
  const T* noise;     // row r of the noise logits
  T* noise_gradient;  // row r of its gradient
  T* exponentials;    // scratch of one row
  T factor;           // scale(i, r) in units of kUnit
  T shift;            // subtracted, in units of kUnit
};

// exponentials = exp(factor * (example + noise) - shift) for kCount noise rows at once; their sums go to `sums` and, if
// correct pairs are counted, the largest ones to `largest`.
template <std::size_t kCount, bool kCountCorrect, Range kRange, class T>
HWY_INLINE void exponential_rows(const T* example, const PairTerms<T>* terms, std::size_t classes, T* sums,
                                 T* largest) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  V total[kCount];
  V best[kCount];
  V factor[kCount];
  V shift[kCount];
  for (std::size_t q = 0; q < kCount; ++q) {
    total[q] = hn::Zero(d);
    best[q] = hn::Zero(d);
    factor[q] = hn::Set(d, terms[q].factor);
    shift[q] = hn::Set(d, terms[q].shift);
  }
  std::size_t j = 0;
  for (; j + lanes <= classes; j += lanes) {
    const V base = hn::LoadU(d, example + j);
    V value[kCount];
    for (std::size_t q = 0; q < kCount; ++q) {
      value[q] = hn::MulSub(hn::Add(base, hn::LoadU(d, terms[q].noise + j)), factor[q], shift[q]);
    }
    exponentials<kRange, kCount>(d, value);
    for (std::size_t q = 0; q < kCount; ++q) {
      total[q] = hn::Add(total[q], value[q]);
      if constexpr (kCountCorrect) best[q] = hn::Max(best[q], value[q]);
      hn::StoreU(value[q], d, terms[q].exponentials + j);
    }
  }
  if (j < classes) {
    const std::size_t left = classes - j;
    const auto mask = hn::FirstN(d, left);
    const V base = load_first(d, example + j, left);
    for (std::size_t q = 0; q < kCount; ++q) {
      const V logit = hn::Add(base, load_first(d, terms[q].noise + j, left));
      const V value = hn::IfThenElseZero(mask, exponential(d, hn::MulSub(logit, factor[q], shift[q])));
      total[q] = hn::Add(total[q], value);
      if constexpr (kCountCorrect) best[q] = hn::Max(best[q], value);
      store_first(d, value, terms[q].exponentials + j, left);
    }
  }
  for (std::size_t q = 0; q < kCount; ++q) {
    sums[q] = hn::GetLane(hn::SumOfLanes(d, total[q]));
    if constexpr (kCountCorrect) largest[q] = hn::GetLane(hn::MaxOfLanes(d, best[q]));
  }
}

// One training example of a block: its logits, its gradient row, and the terms of its pairs with kNoiseBlock noise
// rows.
template <class T>
struct ExampleTerms {
  const T* logits;
  T* gradient;
  const T* scales;
  std::size_t label;
  RowStatistics<T> statistics;
  PairTerms<T> pairs[kNoiseBlock];
  T weights[kNoiseBlock];  // gradient_scale * scale / sum of exponentials
};

// Adds the weighted exponentials of all pairs to the gradient rows of the training examples and of the noise rows.
// Several training examples at once, because every noise row is then loaded and stored once for all of them.
template <std::size_t kExamples, std::size_t kCount, class T>
HWY_INLINE void accumulate_rows(const ExampleTerms<T>* examples, std::size_t classes) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const auto add = [&](std::size_t j, const auto& load, const auto& store) HWY_ATTR {
    V sums[kExamples];
    for (std::size_t o = 0; o < kExamples; ++o) sums[o] = load(examples[o].gradient + j);
    for (std::size_t q = 0; q < kCount; ++q) {
      T* noise = examples[0].pairs[q].noise_gradient + j;
      V sum = load(noise);
      for (std::size_t o = 0; o < kExamples; ++o) {
        // One product and two additions: the multipliers are busy with the exponentials.
        const V weight = hn::Set(d, examples[o].weights[q]);
        const V value = hn::Mul(load(examples[o].pairs[q].exponentials + j), weight);
        sum = hn::Add(sum, value);
        sums[o] = hn::Add(sums[o], value);
      }
      store(sum, noise);
    }
    for (std::size_t o = 0; o < kExamples; ++o) store(sums[o], examples[o].gradient + j);
  };
  std::size_t j = 0;
  for (; j + lanes <= classes; j += lanes) {
    add(
        j, [&](const T* from) HWY_ATTR { return hn::LoadU(d, from); },
        [&](V value, T* to) HWY_ATTR { hn::StoreU(value, d, to); });
  }
  if (j == classes) return;
  add(
      j, [&](const T* from) HWY_ATTR { return load_first(d, from, classes - j); },
      [&](V value, T* to) HWY_ATTR { store_first(d, value, to, classes - j); });
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
RowStatistics<T> row_statistics(const T* row, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto best = hn::Set(d, row[0]);
  auto least = best;
  auto sum = hn::Zero(d);
  T tail_best = row[0];
  T tail_least = row[0];
  T tail_sum = 0;
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto value = hn::LoadU(d, row + j);
    best = hn::Max(best, value);
    least = hn::Min(least, value);
    sum = hn::Add(sum, value);
  }
  for (; j < count; ++j) {
    tail_best = std::max(tail_best, row[j]);
    tail_least = std::min(tail_least, row[j]);
    tail_sum += row[j];
  }
  return {std::max(hn::GetLane(hn::MaxOfLanes(d, best)), tail_best),
          std::min(hn::GetLane(hn::MinOfLanes(d, least)), tail_least),
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

// Fills in exponentials and weights of one training example's pairs with kCount noise rows; returns their loss.
template <std::size_t kCount, bool kCountCorrect, class T>
HWY_INLINE LossSums example_pairs(ExampleTerms<T>& example, const RowStatistics<T>* noise, T smoothing,
                                  T gradient_scale, std::size_t classes) {
  // A sum below this means that the shift, an upper bound, was far above the largest logit: the exact maximum is used.
  const T smallest_sum = std::is_same_v<T, float> ? T{1e-25F} : static_cast<T>(1e-200);
  PairTerms<T>* pairs = example.pairs;
  bool normal = true;  // no argument can be below kLeastPower, with a margin for rounding
  for (std::size_t q = 0; q < kCount; ++q) {
    pairs[q].factor = example.scales[q] * kUnit<T>;
    pairs[q].shift = pairs[q].factor * (example.statistics.largest + noise[q].largest);
    const T least = pairs[q].factor * (example.statistics.smallest + noise[q].smallest) - pairs[q].shift;
    normal = normal && least > static_cast<T>(kLeastPower) + T{1};
  }
  T sums[kCount];
  T largest[kCount];
  if (normal) {
    exponential_rows<kCount, kCountCorrect, Range::kNormal>(example.logits, pairs, classes, sums, largest);
  } else {
    exponential_rows<kCount, kCountCorrect, Range::kAny>(example.logits, pairs, classes, sums, largest);
  }
  LossSums result;
  for (std::size_t q = 0; q < kCount; ++q) {
    if (!(sums[q] >= smallest_sum)) {
      pairs[q].shift = pairs[q].factor * largest_sum(example.logits, pairs[q].noise, classes);
      exponential_rows<1, kCountCorrect, Range::kAny>(example.logits, pairs + q, classes, sums + q, largest + q);
    }
    const T scale = example.scales[q];
    example.weights[q] = gradient_scale * scale / sums[q];
    const T label_logit = scale * (example.logits[example.label] + pairs[q].noise[example.label]);
    const T mean_logit = scale * (example.statistics.mean + noise[q].mean);
    if constexpr (kCountCorrect) result.correct += pairs[q].exponentials[example.label] >= largest[q] ? 1 : 0;
    result.loss += static_cast<double>(pairs[q].shift / kUnit<T> + std::log(sums[q]) -
                                       (T{1} - smoothing) * label_logit - smoothing * mean_logit);
  }
  return result;
}

// The inputs that all blocks of one call share.
template <class T>
struct Pass {
  const VirtualLogits<T>& logits;
  T smoothing;
  T gradient_scale;
  MatrixView<T> example_gradient;
  MatrixView<T> noise_gradient;
  const RowStatistics<T>* statistics;  // of the training examples
  T* buffer;                           // exponentials of one block
};

// kExamples training examples from `first_example` on against kCount noise rows from `first_noise` on.
template <std::size_t kExamples, std::size_t kCount, bool kCountCorrect, class T>
HWY_INLINE LossSums block(const Pass<T>& pass, std::size_t first_example, std::size_t first_noise,
                          const RowStatistics<T>* noise) {
  const VirtualLogits<T>& logits = pass.logits;
  const std::size_t classes = logits.example.cols();
  ExampleTerms<T> examples[kExamples];
  LossSums result;
  for (std::size_t o = 0; o < kExamples; ++o) {
    const std::size_t i = first_example + o;
    examples[o].logits = logits.example.data() + i * logits.example.stride();
    examples[o].gradient = pass.example_gradient.data() + i * pass.example_gradient.stride();
    examples[o].scales = logits.scale.data() + i * logits.scale.stride() + first_noise;
    examples[o].label = static_cast<std::size_t>(logits.labels[i]);
    examples[o].statistics = pass.statistics[i];
    for (std::size_t q = 0; q < kCount; ++q) {
      examples[o].pairs[q].noise = logits.noise.data() + (first_noise + q) * logits.noise.stride();
      examples[o].pairs[q].noise_gradient =
          pass.noise_gradient.data() + (first_noise + q) * pass.noise_gradient.stride();
      examples[o].pairs[q].exponentials = pass.buffer + (o * kNoiseBlock + q) * classes;
    }
    result += example_pairs<kCount, kCountCorrect>(examples[o], noise, pass.smoothing, pass.gradient_scale, classes);
  }
  accumulate_rows<kExamples, kCount>(examples, classes);
  for (ExampleTerms<T>& example : examples) {
    for (std::size_t q = 0; q < kCount; ++q) {
      const T target = pass.gradient_scale * (T{1} - pass.smoothing) * example.scales[q];
      example.pairs[q].noise_gradient[example.label] -= target;
      example.gradient[example.label] -= target;
    }
  }
  return result;
}

// All training examples against kCount noise rows from `first_noise` on.
template <std::size_t kCount, bool kCountCorrect, class T>
HWY_INLINE LossSums noise_block(const Pass<T>& pass, std::size_t first_noise) {
  const VirtualLogits<T>& logits = pass.logits;
  const std::size_t classes = logits.example.cols();
  const std::size_t count = logits.example.rows();
  RowStatistics<T> noise[kCount];
  for (std::size_t q = 0; q < kCount; ++q) {
    noise[q] = row_statistics(logits.noise.data() + (first_noise + q) * logits.noise.stride(), classes);
  }
  LossSums result;
  std::size_t i = 0;
  for (; i + kExampleBlock <= count; i += kExampleBlock) {
    result += block<kExampleBlock, kCount, kCountCorrect>(pass, i, first_noise, noise);
  }
  for (; i < count; ++i) result += block<1, kCount, kCountCorrect>(pass, i, first_noise, noise);
  for (std::size_t q = 0; q < kCount; ++q) {
    T scales = 0;
    for (std::size_t o = 0; o < count; ++o) scales += logits.scale(o, first_noise + q);
    add_constant(pass.noise_gradient.data() + (first_noise + q) * pass.noise_gradient.stride(), classes,
                 -pass.gradient_scale * pass.smoothing * scales / static_cast<T>(classes));
  }
  return result;
}

template <bool kCountCorrect, class T>
LossSums gradient(const VirtualLogits<T>& logits, T smoothing, T gradient_scale, MatrixView<T> example_gradient,
                  MatrixView<T> noise_gradient, T* scratch) {
  const std::size_t examples = logits.example.rows();
  const std::size_t noise_rows = logits.noise.rows();
  const std::size_t classes = logits.example.cols();
  auto* statistics = reinterpret_cast<RowStatistics<T>*>(scratch);
  static_assert(sizeof(RowStatistics<T>) == 3 * sizeof(T));
  for (std::size_t i = 0; i < examples; ++i) {
    statistics[i] = row_statistics(logits.example.data() + i * logits.example.stride(), classes);
  }
  const Pass<T> pass{logits,         smoothing,  gradient_scale,        example_gradient,
                     noise_gradient, statistics, scratch + 3 * examples};
  LossSums result;
  std::size_t first = 0;
  for (; first + kNoiseBlock <= noise_rows; first += kNoiseBlock) {
    result += noise_block<kNoiseBlock, kCountCorrect>(pass, first);
  }
  for (; first < noise_rows; ++first) result += noise_block<1, kCountCorrect>(pass, first);
  for (std::size_t i = 0; i < examples; ++i) {
    T scales = 0;
    for (std::size_t r = 0; r < noise_rows; ++r) scales += logits.scale(i, r);
    add_constant(example_gradient.data() + i * example_gradient.stride(), classes,
                 -gradient_scale * smoothing * scales / static_cast<T>(classes));
  }
  return result;
}

template <class T>
std::size_t correct(const VirtualLogits<T>& logits) {
  const std::size_t classes = logits.example.cols();
  std::size_t count = 0;
  for (std::size_t r = 0; r < logits.noise.rows(); ++r) {
    const T* noise = logits.noise.data() + r * logits.noise.stride();
    for (std::size_t i = 0; i < logits.example.rows(); ++i) {
      const T* example = logits.example.data() + i * logits.example.stride();
      const auto label = static_cast<std::size_t>(logits.labels[i]);
      if (example[label] + noise[label] >= largest_sum(example, noise, classes)) ++count;
    }
  }
  return count;
}

float exponential_sum_float(const float* row, std::size_t count) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const V unit = hn::Set(d, kUnit<float>);
  // Four sums, so that additions do not wait for each other.
  V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t j = 0;
  for (; j + 4 * lanes <= count; j += 4 * lanes) {
    V value[4];
    for (std::size_t q = 0; q < 4; ++q) value[q] = hn::Mul(unit, hn::LoadU(d, row + j + q * lanes));
    exponentials<Range::kAny, 2>(d, value);
    exponentials<Range::kAny, 2>(d, value + 2);
    for (std::size_t q = 0; q < 4; ++q) sums[q] = hn::Add(sums[q], value[q]);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
  for (; j < count; ++j) total += std::exp(row[j]);
  return total;
}

LossSums gradient_float(const VirtualLogits<float>& logits, float smoothing, float gradient_scale, bool count_correct,
                        MatrixView<float> example_gradient, MatrixView<float> noise_gradient, float* scratch) {
  return count_correct ? gradient<true>(logits, smoothing, gradient_scale, example_gradient, noise_gradient, scratch)
                       : gradient<false>(logits, smoothing, gradient_scale, example_gradient, noise_gradient, scratch);
}
LossSums gradient_double(const VirtualLogits<double>& logits, double smoothing, double gradient_scale,
                         bool count_correct, MatrixView<double> example_gradient, MatrixView<double> noise_gradient,
                         double* scratch) {
  return count_correct ? gradient<true>(logits, smoothing, gradient_scale, example_gradient, noise_gradient, scratch)
                       : gradient<false>(logits, smoothing, gradient_scale, example_gradient, noise_gradient, scratch);
}
std::size_t correct_float(const VirtualLogits<float>& logits) { return correct(logits); }
std::size_t correct_double(const VirtualLogits<double>& logits) { return correct(logits); }

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(exponential_sum_float);
HWY_EXPORT(gradient_float);
HWY_EXPORT(gradient_double);
HWY_EXPORT(correct_float);
HWY_EXPORT(correct_double);

float exponential_sum(std::span<const float> row) {
  return HWY_DYNAMIC_DISPATCH(exponential_sum_float)(row.data(), row.size());
}

std::size_t virtual_softmax_scratch(std::size_t classes, std::size_t examples, std::size_t noise_rows) {
  const std::size_t blocks = 3 * examples + kExampleBlock * kNoiseBlock * classes;
  return std::max(blocks, classes <= kFewClasses ? few_classes_scratch(classes, noise_rows) : 0);
}

template <>
LossSums virtual_softmax_gradient(const VirtualLogits<float>& logits, float smoothing, float gradient_scale,
                                  bool count_correct, MatrixView<float> example_gradient,
                                  MatrixView<float> noise_gradient, std::span<float> scratch) {
  assert(scratch.size() >= virtual_softmax_scratch(logits.example.cols(), logits.example.rows(), logits.noise.rows()));
  if (logits.example.cols() <= kFewClasses) {
    return few_classes_gradient(logits, smoothing, gradient_scale, example_gradient, noise_gradient, scratch);
  }
  return HWY_DYNAMIC_DISPATCH(gradient_float)(logits, smoothing, gradient_scale, count_correct, example_gradient,
                                              noise_gradient, scratch.data());
}

template <>
LossSums virtual_softmax_gradient(const VirtualLogits<double>& logits, double smoothing, double gradient_scale,
                                  bool count_correct, MatrixView<double> example_gradient,
                                  MatrixView<double> noise_gradient, std::span<double> scratch) {
  assert(scratch.size() >= virtual_softmax_scratch(logits.example.cols(), logits.example.rows(), logits.noise.rows()));
  return HWY_DYNAMIC_DISPATCH(gradient_double)(logits, smoothing, gradient_scale, count_correct, example_gradient,
                                               noise_gradient, scratch.data());
}

template <>
std::size_t virtual_correct(const VirtualLogits<float>& logits) {
  return HWY_DYNAMIC_DISPATCH(correct_float)(logits);
}

template <>
std::size_t virtual_correct(const VirtualLogits<double>& logits) {
  return HWY_DYNAMIC_DISPATCH(correct_double)(logits);
}

}  // namespace annulus
#endif
