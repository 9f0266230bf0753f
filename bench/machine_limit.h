// What the processors can compute at most: fused multiply-adds of float32, and products of eight bits summed in 32.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "annulus/base/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace annulus {

// Operations a second of all threads; a multiplication and an addition are two. 0: not measured on this processor.
struct MachineLimit {
  double float32 = 0;
  std::string float32_by;
  double int8 = 0;
  std::string int8_by;
  double int8_tiles = 0;  // by AMX's tiles, where there are such
};

// Chains of independent operations in registers: nothing waits for memory or for the result before.
namespace machine_limit {

constexpr double kSeconds = 0.2;  // for one measurement
constexpr int kTurns = 3;

// The best of some turns: operations a second of `block`, which does `operations` of them and runs on every thread.
template <class Block>
double rate_of(const Block& block, double operations, int threads) {
  double best = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::vector<double> rates(static_cast<std::size_t>(threads), 0.0);
    parallel_for(threads, rates.size(), [&](std::size_t thread) {
      const auto start = std::chrono::steady_clock::now();
      double seconds = 0;
      double blocks = 0;
      for (; seconds < kSeconds; ++blocks) {
        block();
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
      rates[thread] = blocks * operations / seconds;
    });
    double sum = 0;
    for (const double rate : rates) sum += rate;
    best = std::max(best, sum);
  }
  return best;
}

#if defined(__x86_64__)

constexpr int kRepeats = 20000;
constexpr int kChains = 12;

__attribute__((target("avx512f"))) inline void float_avx512() {
  __m512 sums[kChains];
  for (auto& sum : sums) sum = _mm512_set1_ps(1.0F);
  const __m512 factor = _mm512_set1_ps(0.999F);
  for (int i = 0; i < kRepeats; ++i) {
    for (auto& sum : sums) sum = _mm512_fmadd_ps(sum, factor, factor);
  }
  for (auto& sum : sums) asm volatile("" : : "v"(sum));
}

__attribute__((target("avx2,fma"))) inline void float_avx2() {
  __m256 sums[kChains];
  for (auto& sum : sums) sum = _mm256_set1_ps(1.0F);
  const __m256 factor = _mm256_set1_ps(0.999F);
  for (int i = 0; i < kRepeats; ++i) {
    for (auto& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
  }
  for (auto& sum : sums) asm volatile("" : : "x"(sum));
}

__attribute__((target("avx512f,avx512vnni"))) inline void int8_vnni() {
  __m512i sums[kChains];
  for (auto& sum : sums) sum = _mm512_set1_epi32(1);
  const __m512i factor = _mm512_set1_epi8(3);
  for (int i = 0; i < kRepeats; ++i) {
    for (auto& sum : sums) sum = _mm512_dpbusd_epi32(sum, factor, factor);
  }
  for (auto& sum : sums) asm volatile("" : : "v"(sum));
}

// Without VNNI: products are added in pairs of 16 bits, widened, and added again.
__attribute__((target("avx2"))) inline void int8_avx2() {
  __m256i sums[kChains];
  for (auto& sum : sums) sum = _mm256_set1_epi32(1);
  __m256i factor = _mm256_set1_epi8(3);
  const __m256i ones = _mm256_set1_epi16(1);
  for (int i = 0; i < kRepeats; ++i) {
    for (auto& sum : sums) {
      asm volatile("" : "+x"(factor));  // the products are computed anew each time
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(factor, factor), ones));
    }
  }
  for (auto& sum : sums) asm volatile("" : : "x"(sum));
}

struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start = 0;
  std::uint8_t unused[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Linux gives a process the tiles when it asks for them.
inline bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

__attribute__((target("amx-tile,amx-int8"))) inline void int8_tiles() {
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  for (int i = 0; i < kRepeats; ++i) {
    _tile_dpbusd(0, 4, 5);
    _tile_dpbusd(1, 4, 5);
    _tile_dpbusd(2, 4, 5);
    _tile_dpbusd(3, 4, 5);
  }
  _tile_release();
}

#endif

}  // namespace machine_limit

// Takes about a second.
inline MachineLimit measure_limit(int threads) {
  using namespace machine_limit;
  MachineLimit limit;
#if defined(__x86_64__)
  const double fused = 2.0 * kRepeats * kChains;
  if (__builtin_cpu_supports("avx512f")) {
    limit.float32 = rate_of(float_avx512, 16 * fused, threads);
    limit.float32_by = "AVX-512";
  } else if (__builtin_cpu_supports("fma")) {
    limit.float32 = rate_of(float_avx2, 8 * fused, threads);
    limit.float32_by = "AVX2";
  }
  if (__builtin_cpu_supports("avx512vnni")) {
    limit.int8 = rate_of(int8_vnni, 64 * fused, threads);
    limit.int8_by = "AVX-512 VNNI";
  } else if (__builtin_cpu_supports("avx2")) {
    limit.int8 = rate_of(int8_avx2, 32 * fused, threads);
    limit.int8_by = "AVX2";
  }
  constexpr double kTileOperations = 2.0 * 16 * 16 * 64;
  if (__builtin_cpu_supports("amx-int8") && may_use_tiles()) {
    limit.int8_tiles = rate_of(int8_tiles, kTileOperations * 4 * kRepeats, threads);
  }
#else
  static_cast<void>(threads);
#endif
  return limit;
}

}  // namespace annulus
