// binary16 conversion through Highway, one source for every instruction set.
#include "annulus/kernels/half.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/half.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void widen(const std::uint16_t* in, std::size_t count, float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const hn::Rebind<std::uint16_t, decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(du, in + i))), d, out + i);
  if (i == count) return;
  std::uint16_t padded[64] = {};
  float widened[64];
  std::copy(in + i, in + count, padded);
  hn::StoreU(hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(du, padded))), d, widened);
  std::copy(widened, widened + (count - i), out + i);
}

void narrow(const float* in, std::size_t count, std::uint16_t* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const hn::Rebind<std::uint16_t, decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::BitCast(du, hn::DemoteTo(dh, hn::LoadU(d, in + i))), du, out + i);
  if (i == count) return;
  float padded[64] = {};
  std::uint16_t narrowed[64];
  std::copy(in + i, in + count, padded);
  hn::StoreU(hn::BitCast(du, hn::DemoteTo(dh, hn::LoadU(d, padded))), du, narrowed);
  std::copy(narrowed, narrowed + (count - i), out + i);
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);

void widen_half(std::span<const std::uint16_t> in, std::span<float> out) {
  assert(in.size() == out.size());
  HWY_DYNAMIC_DISPATCH(widen)(in.data(), in.size(), out.data());
}

void narrow_half(std::span<const float> in, std::span<std::uint16_t> out) {
  assert(in.size() == out.size());
  HWY_DYNAMIC_DISPATCH(narrow)(in.data(), in.size(), out.data());
}

}  // namespace annulus
#endif
