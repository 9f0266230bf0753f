// Half-precision numbers: every bit pattern there and back, and rounding to nearest even.
#include "annulus/kernels/half.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace annulus {
namespace {

TEST(Half, EveryPatternSurvivesTheRoundTrip) {
  std::vector<std::uint16_t> patterns(65536);
  std::iota(patterns.begin(), patterns.end(), std::uint16_t{0});
  std::vector<float> wide(patterns.size());
  std::vector<std::uint16_t> back(patterns.size());
  widen_half(patterns, wide);
  narrow_half(wide, back);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (std::isnan(wide[i])) continue;  // the payload of a NaN is free
    ASSERT_EQ(back[i], patterns[i]) << i;
  }
}

TEST(Half, RoundsToNearestEvenAndOverflowsToInfinity) {
  const std::array<float, 6> in{1.0F, 1.0F + 1.0F / 2048.0F, 1.0F + 3.0F / 2048.0F, 65504.0F, 1e6F, -1e6F};
  std::array<std::uint16_t, 6> bits{};
  narrow_half(in, bits);
  std::array<float, 6> out{};
  widen_half(bits, out);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(out, (std::array<float, 6>{1.0F, 1.0F, 1.0F + 4.0F / 2048.0F, 65504.0F, kInfinity, -kInfinity}));
}

}  // namespace
}  // namespace annulus
