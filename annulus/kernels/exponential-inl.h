// The exponential of the softmax kernels, and loads and stores of partial vectors. Included once for every instruction
// set by the kernels that use it.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#if defined(ANNULUS_KERNELS_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ANNULUS_KERNELS_EXPONENTIAL_INL_H_
#undef ANNULUS_KERNELS_EXPONENTIAL_INL_H_
#else
#define ANNULUS_KERNELS_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>
// keep the order: math-inl needs highway.h
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Exponentials take arguments in units of `kUnit`: float works in powers of two, which saves a multiplication.
template <class T>
inline constexpr T kUnit = std::is_same_v<T, float> ? static_cast<T>(1.4426950408889634) : T{1};

// Degree-5 fit of 2^f on [-1/2, 1/2], largest relative error 7.5e-8.
inline constexpr float kPower0 = 1.0000000716542108F;
inline constexpr float kPower1 = 0.6931469670500828F;
inline constexpr float kPower2 = 0.2402211972537346F;
inline constexpr float kPower3 = 0.055507132974691925F;
inline constexpr float kPower4 = 0.009675541272859176F;
inline constexpr float kPower5 = 0.0013276464243910553F;

// The smallest argument: below it, float exponentials are constant.
inline constexpr float kLeastPower = -126.0F;

// Whether an exponential handles arguments below kLeastPower; not handling them costs a tenth less.
enum class Range : unsigned char { kAny, kNormal };

// x[q] = e^x[q] for x in units of kUnit and x <= 0 up to rounding: for float 2^x, relative error below 2e-7. Each step
// is done for all of x, so that the operations overlap.
template <Range kRange, std::size_t kCount, class D>
HWY_INLINE void exponentials(D d, hn::Vec<D>* x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    using V = hn::Vec<D>;
    const hn::RebindToSigned<D> di;
    if constexpr (kRange == Range::kAny) {
      for (std::size_t q = 0; q < kCount; ++q) x[q] = hn::Max(x[q], hn::Set(d, kLeastPower));
    }
    // Adding 1.5 * 2^23 rounds to an integer in the low bits.
    const auto magic = hn::Set(d, 12582912.0F);
    V shifted[kCount];
    V power[kCount];
    for (std::size_t q = 0; q < kCount; ++q) shifted[q] = hn::Add(x[q], magic);
    for (std::size_t q = 0; q < kCount; ++q) x[q] = hn::Sub(x[q], hn::Sub(shifted[q], magic));
    for (std::size_t q = 0; q < kCount; ++q) power[q] = hn::MulAdd(x[q], hn::Set(d, kPower5), hn::Set(d, kPower4));
    for (const float coefficient : {kPower3, kPower2, kPower1, kPower0}) {
      for (std::size_t q = 0; q < kCount; ++q) power[q] = hn::MulAdd(x[q], power[q], hn::Set(d, coefficient));
    }
    for (std::size_t q = 0; q < kCount; ++q) {
      const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted[q]));
      x[q] = hn::BitCast(d, hn::Add(hn::BitCast(di, power[q]), exponent));
    }
  } else {
    for (std::size_t q = 0; q < kCount; ++q) x[q] = hn::Exp(d, x[q]);
  }
}

template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  exponentials<Range::kAny, 1>(d, &x);
  return x;
}

// The first `count` values at `from`, followed by zeros; reads no further.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* from, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> padded[hn::MaxLanes(d)] = {};
  std::copy(from, from + count, padded);
  return hn::Load(d, padded);
#else
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#endif
}

template <class D>
HWY_INLINE void store_first(D d, hn::Vec<D> value, hn::TFromD<D>* to, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> padded[hn::MaxLanes(d)];
  hn::Store(value, d, padded);
  std::copy(padded, padded + count, to);
#else
  hn::BlendedStore(value, hn::FirstN(d, count), d, to);
#endif
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
