// Philox4x32-10 and Box-Muller, vectorised over counter blocks.
//
// Values are stored in chunks of 64, made from 16 consecutive counter blocks: value w * 16 + b of a chunk comes from
// word w of block b. Any vector length that divides 16 can therefore write without shuffling, and the layout is the
// same for all of them.
#include "annulus/kernels/gaussian.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "annulus/kernels/gaussian.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// keep the order: math-inl needs highway.h
#include <hwy/contrib/math/math-inl.h>

#ifndef ANNULUS_KERNELS_GAUSSIAN_LAYOUT
#define ANNULUS_KERNELS_GAUSSIAN_LAYOUT
namespace annulus {

inline constexpr std::size_t kBlocksPerChunk = 16;
inline constexpr std::size_t kNumbersPerChunk = 4 * kBlocksPerChunk;

}  // namespace annulus
#endif

HWY_BEFORE_NAMESPACE();
namespace annulus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using TagF = hn::CappedTag<float, kBlocksPerChunk>;
using TagU = hn::RebindToUnsigned<TagF>;
using TagI = hn::RebindToSigned<TagF>;
using VecF = hn::Vec<TagF>;
using VecU = hn::Vec<TagU>;

// High and low halves of the 64-bit products of unsigned lanes with one constant.
HWY_INLINE void multiply_wide(VecU a, std::uint32_t constant, VecU& high, VecU& low) {
  const TagU du;
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{hn::GetLane(a)} * constant;
  low = hn::Set(du, static_cast<std::uint32_t>(product));
  high = hn::Set(du, static_cast<std::uint32_t>(product >> 32));
#else
  const hn::RepartitionToWide<TagU> dw;
  const VecU factor = hn::Set(du, constant);
  const auto even = hn::MulEven(a, factor);
  const auto odd = hn::MulEven(hn::BitCast(du, hn::ShiftRight<32>(hn::BitCast(dw, a))), factor);
  low = hn::OddEven(hn::BitCast(du, hn::ShiftLeft<32>(odd)), hn::BitCast(du, even));
  high = hn::OddEven(hn::BitCast(du, odd), hn::BitCast(du, hn::ShiftRight<32>(even)));
#endif
}

// Two independent normals from two words: radius from the first, angle from the second.
HWY_INLINE void box_muller(VecU word0, VecU word1, VecF& first, VecF& second) {
  const TagF d;
  const TagU du;
  const TagI di;
  // Uniform in (0, 1]: the top 24 bits and a half, so that the logarithm is finite.
  const VecF uniform = hn::Mul(hn::Add(hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(word0))), hn::Set(d, 0.5F)),
                               hn::Set(d, 0x1.0p-24F));
  const VecF radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0F), hn::Log(d, uniform)));

  // The word is an angle in units of 2^-32 turns: nearest quarter turn, and a remainder in [-1/8, 1/8) turns.
  const VecU quarter = hn::ShiftRight<30>(hn::Add(word1, hn::Set(du, 0x20000000U)));
  const auto remainder = hn::BitCast(di, hn::Sub(word1, hn::ShiftLeft<30>(quarter)));
  const VecF phi = hn::Mul(hn::ConvertTo(d, remainder), hn::Set(d, 1.4629180792671596e-9F));  // 2 pi / 2^32
  const VecF squared = hn::Mul(phi, phi);
  // Taylor series on |phi| <= pi/4: errors below 4e-8 and 4e-9 of the result.
  VecF sine = hn::MulAdd(squared, hn::Set(d, 2.7557319e-6F), hn::Set(d, -1.9841270e-4F));
  sine = hn::MulAdd(squared, sine, hn::Set(d, 8.3333333e-3F));
  sine = hn::MulAdd(squared, sine, hn::Set(d, -1.6666667e-1F));
  sine = hn::MulAdd(hn::Mul(squared, phi), sine, phi);
  VecF cosine = hn::MulAdd(squared, hn::Set(d, 2.4801587e-5F), hn::Set(d, -1.3888889e-3F));
  cosine = hn::MulAdd(squared, cosine, hn::Set(d, 4.1666667e-2F));
  cosine = hn::MulAdd(squared, cosine, hn::Set(d, -0.5F));
  cosine = hn::MulAdd(squared, cosine, hn::Set(d, 1.0F));

  // Turn by `quarter` quarter turns: odd ones swap sine and cosine; the signs follow the quadrant.
  const auto odd = hn::RebindMask(d, hn::TestBit(quarter, hn::Set(du, 1U)));
  const VecU cosine_sign = hn::ShiftLeft<30>(hn::And(hn::Add(quarter, hn::Set(du, 1U)), hn::Set(du, 2U)));
  const VecU sine_sign = hn::ShiftLeft<30>(hn::And(quarter, hn::Set(du, 2U)));
  first = hn::Mul(radius, hn::Xor(hn::IfThenElse(odd, sine, cosine), hn::BitCast(d, cosine_sign)));
  second = hn::Mul(radius, hn::Xor(hn::IfThenElse(odd, cosine, sine), hn::BitCast(d, sine_sign)));
}

// All 64 values of one chunk.
HWY_INLINE void make_chunk(std::uint64_t chunk, std::uint32_t stream, std::uint32_t use, std::uint64_t seed,
                           float* out) {
  const TagF d;
  const TagU du;
  const std::size_t lanes = hn::Lanes(d);
  const std::uint64_t first_block = chunk * kBlocksPerChunk;  // a multiple of 16: adding a lane number never carries
  for (std::size_t offset = 0; offset < kBlocksPerChunk; offset += lanes) {
    VecU c0 = hn::Iota(du, static_cast<std::uint32_t>(first_block + offset));
    VecU c1 = hn::Set(du, static_cast<std::uint32_t>(first_block >> 32));
    VecU c2 = hn::Set(du, stream);
    VecU c3 = hn::Set(du, use);
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      VecU high0;
      VecU low0;
      VecU high2;
      VecU low2;
      multiply_wide(c0, 0xD2511F53U, high0, low0);
      multiply_wide(c2, 0xCD9E8D57U, high2, low2);
      c0 = hn::Xor(hn::Xor(high2, c1), hn::Set(du, key0));
      c1 = low2;
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(du, key1));
      c3 = low0;
      key0 += 0x9E3779B9U;
      key1 += 0xBB67AE85U;
    }
    VecF n0;
    VecF n1;
    VecF n2;
    VecF n3;
    box_muller(c0, c1, n0, n1);
    box_muller(c2, c3, n2, n3);
    hn::StoreU(n0, d, out + offset);
    hn::StoreU(n1, d, out + kBlocksPerChunk + offset);
    hn::StoreU(n2, d, out + 2 * kBlocksPerChunk + offset);
    hn::StoreU(n3, d, out + 3 * kBlocksPerChunk + offset);
  }
}

void fill(std::uint64_t seed, std::uint32_t use, std::uint32_t stream, std::uint64_t first, float* out,
          std::size_t count) {
  float edge[kNumbersPerChunk];
  while (count > 0) {
    const std::uint64_t chunk = first / kNumbersPerChunk;
    const auto skip = static_cast<std::size_t>(first % kNumbersPerChunk);
    const std::size_t taken = std::min(count, kNumbersPerChunk - skip);
    if (taken == kNumbersPerChunk) {
      make_chunk(chunk, stream, use, seed, out);
    } else {
      make_chunk(chunk, stream, use, seed, edge);
      std::copy(edge + skip, edge + skip + taken, out);
    }
    first += taken;
    out += taken;
    count -= taken;
  }
}

}  // namespace annulus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace annulus {

HWY_EXPORT(fill);

void fill_gaussian(const RandomStream& stream, std::uint64_t first, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(fill)
  (stream.seed, static_cast<std::uint32_t>(stream.use), stream.stream, first, out.data(), out.size());
}

}  // namespace annulus
#endif
