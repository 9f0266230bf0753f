// Narrow products with Highway: every value of the long operand is loaded once for all of the short one.
#include "annulus/kernels/narrow_gemm.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/narrow_gemm.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;

// Where a result goes: out[row * row_step + col * col_step].
struct Target {
  float* out;
  std::size_t row_step;
  std::size_t col_step;
};

// Ten sums of two rows of a with five rows of b fit in the registers of every instruction set. Unused ones of `kCols`
// are removed by the compiler.
template <std::size_t kCols>
void two_rows(float alpha, const float* a0, const float* a1, const float* b, std::size_t stride, std::size_t count,
              const Target& target) {
  static_assert(kCols >= 1 && kCols <= 5);
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  auto s00 = hn::Zero(d), s01 = s00, s02 = s00, s03 = s00, s04 = s00;
  auto s10 = s00, s11 = s00, s12 = s00, s13 = s00, s14 = s00;
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto x0 = hn::LoadU(d, a0 + k);
    const auto x1 = hn::LoadU(d, a1 + k);
    auto y = hn::LoadU(d, b + k);
    s00 = hn::MulAdd(x0, y, s00);
    s10 = hn::MulAdd(x1, y, s10);
    if constexpr (kCols > 1) {
      y = hn::LoadU(d, b + stride + k);
      s01 = hn::MulAdd(x0, y, s01);
      s11 = hn::MulAdd(x1, y, s11);
    }
    if constexpr (kCols > 2) {
      y = hn::LoadU(d, b + 2 * stride + k);
      s02 = hn::MulAdd(x0, y, s02);
      s12 = hn::MulAdd(x1, y, s12);
    }
    if constexpr (kCols > 3) {
      y = hn::LoadU(d, b + 3 * stride + k);
      s03 = hn::MulAdd(x0, y, s03);
      s13 = hn::MulAdd(x1, y, s13);
    }
    if constexpr (kCols > 4) {
      y = hn::LoadU(d, b + 4 * stride + k);
      s04 = hn::MulAdd(x0, y, s04);
      s14 = hn::MulAdd(x1, y, s14);
    }
  }
  const auto total = [d](auto sum) { return hn::GetLane(hn::SumOfLanes(d, sum)); };
  float sums[2][5] = {{total(s00), total(s01), total(s02), total(s03), total(s04)},
                      {total(s10), total(s11), total(s12), total(s13), total(s14)}};
  for (; k < count; ++k) {
    for (std::size_t j = 0; j < kCols; ++j) {
      sums[0][j] += a0[k] * b[j * stride + k];
      sums[1][j] += a1[k] * b[j * stride + k];
    }
  }
  // A missing second row is replaced by the first.
  for (std::size_t j = 0; j < kCols; ++j) {
    target.out[j * target.col_step] = alpha * sums[0][j];
    if (a1 != a0) target.out[target.row_step + j * target.col_step] = alpha * sums[1][j];
  }
}

// With one or two rows of b, two rows of a would wait for their sums: here eight and four are used, each summed as
// above.
void eight_rows(float alpha, const float* a, std::size_t a_stride, const float* b, std::size_t count,
                const Target& target) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto y = hn::LoadU(d, b + k);
    s0 = hn::MulAdd(hn::LoadU(d, a + k), y, s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + a_stride + k), y, s1);
    s2 = hn::MulAdd(hn::LoadU(d, a + 2 * a_stride + k), y, s2);
    s3 = hn::MulAdd(hn::LoadU(d, a + 3 * a_stride + k), y, s3);
    s4 = hn::MulAdd(hn::LoadU(d, a + 4 * a_stride + k), y, s4);
    s5 = hn::MulAdd(hn::LoadU(d, a + 5 * a_stride + k), y, s5);
    s6 = hn::MulAdd(hn::LoadU(d, a + 6 * a_stride + k), y, s6);
    s7 = hn::MulAdd(hn::LoadU(d, a + 7 * a_stride + k), y, s7);
  }
  const auto total = [d](auto sum) { return hn::GetLane(hn::SumOfLanes(d, sum)); };
  float sums[8] = {total(s0), total(s1), total(s2), total(s3), total(s4), total(s5), total(s6), total(s7)};
  for (; k < count; ++k) {
    for (std::size_t i = 0; i < 8; ++i) sums[i] += a[i * a_stride + k] * b[k];
  }
  for (std::size_t i = 0; i < 8; ++i) target.out[i * target.row_step] = alpha * sums[i];
}

void four_rows(float alpha, const float* a, std::size_t a_stride, const float* b, std::size_t b_stride,
               std::size_t count, const Target& target) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  auto s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto y0 = hn::LoadU(d, b + k);
    const auto y1 = hn::LoadU(d, b + b_stride + k);
    auto x = hn::LoadU(d, a + k);
    s00 = hn::MulAdd(x, y0, s00);
    s01 = hn::MulAdd(x, y1, s01);
    x = hn::LoadU(d, a + a_stride + k);
    s10 = hn::MulAdd(x, y0, s10);
    s11 = hn::MulAdd(x, y1, s11);
    x = hn::LoadU(d, a + 2 * a_stride + k);
    s20 = hn::MulAdd(x, y0, s20);
    s21 = hn::MulAdd(x, y1, s21);
    x = hn::LoadU(d, a + 3 * a_stride + k);
    s30 = hn::MulAdd(x, y0, s30);
    s31 = hn::MulAdd(x, y1, s31);
  }
  const auto total = [d](auto sum) { return hn::GetLane(hn::SumOfLanes(d, sum)); };
  float sums[4][2] = {
      {total(s00), total(s01)}, {total(s10), total(s11)}, {total(s20), total(s21)}, {total(s30), total(s31)}};
  for (; k < count; ++k) {
    for (std::size_t i = 0; i < 4; ++i) {
      sums[i][0] += a[i * a_stride + k] * b[k];
      sums[i][1] += a[i * a_stride + k] * b[b_stride + k];
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    target.out[i * target.row_step] = alpha * sums[i][0];
    target.out[i * target.row_step + target.col_step] = alpha * sums[i][1];
  }
}

template <std::size_t kCols>
void all_rows(float alpha, const float* a, std::size_t a_stride, std::size_t rows, const float* b, std::size_t stride,
              std::size_t count, const Target& target) {
  std::size_t i = 0;
  const auto from = [&](std::size_t row) {
    return Target{target.out + row * target.row_step, target.row_step, target.col_step};
  };
  if constexpr (kCols == 1) {
    for (; i + 8 <= rows; i += 8) eight_rows(alpha, a + i * a_stride, a_stride, b, count, from(i));
  }
  if constexpr (kCols == 2) {
    for (; i + 4 <= rows; i += 4) four_rows(alpha, a + i * a_stride, a_stride, b, stride, count, from(i));
  }
  for (; i < rows; i += 2) {
    const float* first = a + i * a_stride;
    two_rows<kCols>(alpha, first, i + 1 < rows ? first + a_stride : first, b, stride, count, from(i));
  }
}

// Divides `count` into groups of at most five and calls work(first, length as a constant) for each.
template <class Work>
void by_fives(std::size_t count, const Work& work) {
  const std::size_t turns = (count + 4) / 5;
  for (std::size_t turn = 0, first = 0; turn < turns; ++turn) {
    const std::size_t length = (count - first + turns - turn - 1) / (turns - turn);
    switch (length) {
      case 1:
        work(first, std::integral_constant<std::size_t, 1>());
        break;
      case 2:
        work(first, std::integral_constant<std::size_t, 2>());
        break;
      case 3:
        work(first, std::integral_constant<std::size_t, 3>());
        break;
      case 4:
        work(first, std::integral_constant<std::size_t, 4>());
        break;
      default:
        work(first, std::integral_constant<std::size_t, 5>());
    }
    first += length;
  }
}

void products(float alpha, const float* a, std::size_t a_stride, std::size_t rows, const float* b, std::size_t b_stride,
              std::size_t b_rows, std::size_t count, float* out, std::size_t row_step, std::size_t col_step) {
  by_fives(b_rows, [&](std::size_t first, auto cols) {
    all_rows<decltype(cols)::value>(alpha, a, a_stride, rows, b + first * b_stride, b_stride, count,
                                    {out + first * col_step, row_step, col_step});
  });
}

// Adds rows [0, rows) of b, each times kCols weights, to kCols rows of out.
template <std::size_t kCols>
void add_sums(float alpha, const float* weights, std::size_t weight_stride, const float* b, std::size_t b_stride,
              std::size_t rows, std::size_t count, float* out, std::size_t out_stride) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, alpha);
  std::size_t k = 0;
  for (; k + 2 * lanes <= count; k += 2 * lanes) {
    auto s00 = hn::Zero(d), s01 = s00, s02 = s00, s03 = s00, s04 = s00;
    auto s10 = s00, s11 = s00, s12 = s00, s13 = s00, s14 = s00;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto y0 = hn::LoadU(d, b + r * b_stride + k);
      const auto y1 = hn::LoadU(d, b + r * b_stride + k + lanes);
      const float* w = weights + r * weight_stride;
      auto x = hn::Set(d, w[0]);
      s00 = hn::MulAdd(x, y0, s00);
      s10 = hn::MulAdd(x, y1, s10);
      if constexpr (kCols > 1) {
        x = hn::Set(d, w[1]);
        s01 = hn::MulAdd(x, y0, s01);
        s11 = hn::MulAdd(x, y1, s11);
      }
      if constexpr (kCols > 2) {
        x = hn::Set(d, w[2]);
        s02 = hn::MulAdd(x, y0, s02);
        s12 = hn::MulAdd(x, y1, s12);
      }
      if constexpr (kCols > 3) {
        x = hn::Set(d, w[3]);
        s03 = hn::MulAdd(x, y0, s03);
        s13 = hn::MulAdd(x, y1, s13);
      }
      if constexpr (kCols > 4) {
        x = hn::Set(d, w[4]);
        s04 = hn::MulAdd(x, y0, s04);
        s14 = hn::MulAdd(x, y1, s14);
      }
    }
    const auto add = [&](std::size_t m, auto sum0, auto sum1) {
      float* to = out + m * out_stride + k;
      hn::StoreU(hn::MulAdd(factor, sum0, hn::LoadU(d, to)), d, to);
      hn::StoreU(hn::MulAdd(factor, sum1, hn::LoadU(d, to + lanes)), d, to + lanes);
    };
    add(0, s00, s10);
    if constexpr (kCols > 1) add(1, s01, s11);
    if constexpr (kCols > 2) add(2, s02, s12);
    if constexpr (kCols > 3) add(3, s03, s13);
    if constexpr (kCols > 4) add(4, s04, s14);
  }
  for (; k < count; ++k) {
    for (std::size_t m = 0; m < kCols; ++m) {
      float sum = 0.0F;
      for (std::size_t r = 0; r < rows; ++r) sum += weights[r * weight_stride + m] * b[r * b_stride + k];
      out[m * out_stride + k] += alpha * sum;
    }
  }
}

void sums(float alpha, const float* weights, std::size_t weight_stride, std::size_t cols, const float* b,
          std::size_t b_stride, std::size_t rows, std::size_t count, float* out, std::size_t out_stride) {
  constexpr std::size_t kRowsAtATime = 32;  // each lies in its own page: as many as the processor's TLB holds
  for (std::size_t m = 0; m < cols; ++m) std::fill_n(out + m * out_stride, count, 0.0F);
  for (std::size_t row = 0; row < rows; row += kRowsAtATime) {
    const std::size_t block = std::min(kRowsAtATime, rows - row);
    by_fives(cols, [&](std::size_t first, auto part) {
      add_sums<decltype(part)::value>(alpha, weights + row * weight_stride + first, weight_stride, b + row * b_stride,
                                      b_stride, block, count, out + first * out_stride, out_stride);
    });
  }
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(products);
HWY_EXPORT(sums);

void narrow_products(float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out) {
  assert(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows());
  HWY_DYNAMIC_DISPATCH(products)
  (alpha, a.data(), a.stride(), a.rows(), b.data(), b.stride(), b.rows(), a.cols(), out.data(), out.stride(), 1);
}

void narrow_products_transposed(float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b,
                                MatrixView<float> out) {
  assert(a.cols() == b.cols() && out.rows() == b.rows() && out.cols() == a.rows());
  HWY_DYNAMIC_DISPATCH(products)
  (alpha, a.data(), a.stride(), a.rows(), b.data(), b.stride(), b.rows(), a.cols(), out.data(), 1, out.stride());
}

void narrow_sums(float alpha, ConstMatrixView<float> weights, ConstMatrixView<float> b, MatrixView<float> out) {
  assert(weights.rows() == b.rows() && out.rows() == weights.cols() && out.cols() == b.cols());
  HWY_DYNAMIC_DISPATCH(sums)
  (alpha, weights.data(), weights.stride(), weights.cols(), b.data(), b.stride(), b.rows(), b.cols(), out.data(),
   out.stride());
}

}  // namespace annulus
#endif
