// The passes of resizing with Highway: exact integer sums, so every instruction set gives the same pixels.
#include "annulus/kernels/resample.h"

#include <cassert>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/resample.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kHalf = std::int32_t{1} << (kResampleBits - 1);

HWY_INLINE std::uint8_t to_byte(std::int32_t sum) {
  sum >>= kResampleBits;
  return static_cast<std::uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

#if HWY_TARGET == HWY_SCALAR

template <std::size_t kRows>
HWY_INLINE void rgb_rows(const std::uint8_t* in, std::size_t in_stride, std::size_t /*in_pixels*/,
                         const ResampleAxis& axis, std::uint8_t* out, std::size_t out_stride) {
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t i = 0; i < axis.windows.size(); ++i) {
      const ResampleAxis::Window window = axis.windows[i];
      const std::int32_t* weights = axis.weights.data() + window.offset;
      const std::uint8_t* pixel = in + r * in_stride + std::size_t{3} * window.first;
      std::int32_t sum[3] = {kHalf, kHalf, kHalf};
      for (std::size_t t = 0; t < window.count; ++t) {
        for (std::size_t c = 0; c < 3; ++c) sum[c] += weights[t] * pixel[3 * t + c];
      }
      for (std::size_t c = 0; c < 3; ++c) out[r * out_stride + 3 * i + c] = to_byte(sum[c]);
    }
  }
}

#else

// One RGB pixel in the low three of four 32-bit lanes.
using PixelTag = hn::FixedTag<std::int32_t, 4>;
using PixelBytesTag = hn::FixedTag<std::uint8_t, 4>;

HWY_INLINE hn::Vec<PixelTag> load_pixel(const std::uint8_t* pixel) {
  return hn::PromoteTo(PixelTag(), hn::LoadU(PixelBytesTag(), pixel));
}

// The same without touching the byte after the pixel, which may be beyond the image.
HWY_INLINE hn::Vec<PixelTag> load_last_pixel(const std::uint8_t* pixel) {
  std::uint8_t padded[4] = {pixel[0], pixel[1], pixel[2], 0};
  return load_pixel(padded);
}

HWY_INLINE void store_pixel(hn::Vec<PixelTag> sum, std::uint8_t* out) {
  std::uint8_t padded[4];
  hn::StoreU(hn::DemoteTo(PixelBytesTag(), hn::ShiftRight<kResampleBits>(sum)), PixelBytesTag(), padded);
  std::memcpy(out, padded, 3);
}

// kRows rows at once share the loading of weights and hide the latency of the sums.
template <std::size_t kRows>
HWY_INLINE void rgb_rows(const std::uint8_t* in, std::size_t in_stride, std::size_t in_pixels, const ResampleAxis& axis,
                         std::uint8_t* out, std::size_t out_stride) {
  const PixelTag d;
  for (std::size_t i = 0; i < axis.windows.size(); ++i) {
    const ResampleAxis::Window window = axis.windows[i];
    const std::int32_t* weights = axis.weights.data() + window.offset;
    const std::uint8_t* pixel = in + std::size_t{3} * window.first;
    const bool touches_end = window.first + window.count == in_pixels;
    const std::size_t whole = touches_end ? window.count - 1 : window.count;
    hn::Vec<PixelTag> sum[kRows];
    for (std::size_t r = 0; r < kRows; ++r) sum[r] = hn::Set(d, kHalf);
    for (std::size_t t = 0; t < whole; ++t) {
      const auto weight = hn::Set(d, weights[t]);
      for (std::size_t r = 0; r < kRows; ++r) {
        sum[r] = hn::Add(sum[r], hn::Mul(load_pixel(pixel + r * in_stride + 3 * t), weight));
      }
    }
    if (touches_end) {
      const auto weight = hn::Set(d, weights[whole]);
      for (std::size_t r = 0; r < kRows; ++r) {
        sum[r] = hn::Add(sum[r], hn::Mul(load_last_pixel(pixel + r * in_stride + 3 * whole), weight));
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) store_pixel(sum[r], out + r * out_stride + 3 * i);
  }
}

#endif

void resample_rows(ConstMatrixView<std::uint8_t> in, const ResampleAxis& axis, MatrixView<std::uint8_t> out) {
  constexpr std::size_t kTogether = 4;
  const std::size_t pixels = in.cols() / 3;
  std::size_t y = 0;
  for (; y + kTogether <= in.rows(); y += kTogether) {
    rgb_rows<kTogether>(in.row(y).data(), in.stride(), pixels, axis, out.row(y).data(), out.stride());
  }
  for (; y < in.rows(); ++y) {
    rgb_rows<1>(in.row(y).data(), in.stride(), pixels, axis, out.row(y).data(), out.stride());
  }
}

void resample_down(ConstMatrixView<std::uint8_t> in, const std::int32_t* weights, std::uint8_t* out) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t cols = in.cols();
  std::size_t j = 0;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    auto sum0 = hn::Set(d, kHalf);
    auto sum1 = sum0;
    auto sum2 = sum0;
    auto sum3 = sum0;
    const std::uint8_t* row = in.data() + j;
    for (std::size_t i = 0; i < in.rows(); ++i, row += in.stride()) {
      const auto weight = hn::Set(d, weights[i]);
      sum0 = hn::Add(sum0, hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row)), weight));
      sum1 = hn::Add(sum1, hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row + lanes)), weight));
      sum2 = hn::Add(sum2, hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row + 2 * lanes)), weight));
      sum3 = hn::Add(sum3, hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, row + 3 * lanes)), weight));
    }
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kResampleBits>(sum0)), d8, out + j);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kResampleBits>(sum1)), d8, out + j + lanes);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kResampleBits>(sum2)), d8, out + j + 2 * lanes);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kResampleBits>(sum3)), d8, out + j + 3 * lanes);
  }
  for (; j < cols; ++j) {
    std::int32_t sum = kHalf;
    for (std::size_t i = 0; i < in.rows(); ++i) sum += weights[i] * in.data()[i * in.stride() + j];
    out[j] = to_byte(sum);
  }
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(resample_rows);
HWY_EXPORT(resample_down);

void resample_rgb_rows(ConstMatrixView<std::uint8_t> in, const ResampleAxis& axis, MatrixView<std::uint8_t> out) {
  assert(in.rows() == out.rows() && out.cols() == 3 * axis.windows.size() && in.cols() % 3 == 0);
  HWY_DYNAMIC_DISPATCH(resample_rows)(in, axis, out);
}

void resample_columns(ConstMatrixView<std::uint8_t> in, std::span<const std::int32_t> weights,
                      std::span<std::uint8_t> out) {
  assert(in.rows() == weights.size() && in.cols() == out.size());
  HWY_DYNAMIC_DISPATCH(resample_down)(in, weights.data(), out.data());
}

}  // namespace annulus
#endif
