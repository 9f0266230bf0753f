// Weighted sums of 8-bit pixels in fixed point: the two passes of image resizing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

// Fractional bits of a weight. The absolute weights of one output must add up to less than 2 (bicubic: 1.3), so that a
// sum of 255 times each fits in 32 bits.
inline constexpr int kResampleBits = 22;

// For every output position along one axis, the range of input positions that it depends on and their weights.
struct ResampleAxis {
  struct Window {
    std::uint32_t first = 0;  // input position of the first weight
    std::uint32_t count = 0;  // at least 1
    std::size_t offset = 0;   // of the first weight in `weights`
  };
  std::vector<Window> windows;
  std::vector<std::int32_t> weights;

  std::span<const std::int32_t> weights_of(const Window& window) const {
    return std::span(weights).subspan(window.offset, window.count);
  }
};

// out(y, 3 * i + c) = the weighted sum over axis.windows[i] of channel c of the RGB pixels in row y of `in`, rounded
// and clamped to 0..255. Rows must match; out.cols() = 3 * windows; windows must lie inside in.cols() / 3 pixels.
void resample_rgb_rows(ConstMatrixView<std::uint8_t> in, const ResampleAxis& axis, MatrixView<std::uint8_t> out);

// out[j] = the weighted sum over i of in(i, j), rounded and clamped; one weight per row, out.size() = in.cols().
void resample_columns(ConstMatrixView<std::uint8_t> in, std::span<const std::int32_t> weights,
                      std::span<std::uint8_t> out);

}  // namespace annulus
