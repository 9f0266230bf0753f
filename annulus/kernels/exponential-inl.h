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

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
