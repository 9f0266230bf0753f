// Row jobs and half precision against plain loops, on every instruction set.
#include "annulus/kernels/rows.h"

#include <bit>
#include <cmath>
#include <limits>

#include "annulus/base/random.h"
#include "annulus/kernels/half.h"
#include "tests/fixtures/every_target.h"

namespace annulus {
namespace {

template <class T>
std::vector<T> random_row(std::size_t count, std::uint32_t stream) {
  const RandomStream random{8, RandomUse::kSynthetic, stream};
  std::vector<T> row(count);
  for (std::size_t i = 0; i < count; ++i) row[i] = static_cast<T>(random.uniform(i) - 0.5);
  return row;
}

template <class T>
void check_rows(double tolerance) {
  for (const std::size_t count : kAwkwardLengths) {
    const auto example = random_row<T>(count, 1);
    const auto shape = random_row<T>(count, 2);
    const auto noise = random_row<T>(count, 3);
    std::vector<T> out(count);
    double squared = 0.0;
    const T found = virtual_row(std::span<const T>(example), std::span<const T>(shape), std::span<const T>(noise),
                                static_cast<T>(1.5), std::span<T>(out));
    for (std::size_t j = 0; j < count; ++j) {
      const double expected =
          static_cast<double>(example[j]) + 1.5 * static_cast<double>(shape[j]) * static_cast<double>(noise[j]);
      ASSERT_NEAR(static_cast<double>(out[j]), expected, tolerance);
      squared += expected * expected;
    }
    EXPECT_NEAR(static_cast<double>(found), squared, tolerance * static_cast<double>(count));
    EXPECT_NEAR(static_cast<double>(squared_length(std::span<const T>(out))), squared,
                tolerance * static_cast<double>(count));
    auto scaled = example;
    scale_row(std::span<T>(scaled), static_cast<T>(-2));
    add_row(std::span<const T>(example), std::span<T>(scaled));
    for (std::size_t j = 0; j < count; ++j) ASSERT_EQ(scaled[j], -example[j]);
  }
}

TEST(Rows, EqualPlainLoops) {
  for_every_target([] {
    check_rows<float>(1e-6);
    check_rows<double>(1e-14);
  });
}

// Every one of the 65,536 half-precision numbers, by the definition of the format.
TEST(Half, WidensEveryNumberExactly) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for_every_target([&] {
    std::vector<float> wide(all.size());
    widen_half(all, wide);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto exponent = static_cast<int>(i >> 10 & 31);
      const auto fraction = static_cast<double>(i & 1023);
      const double sign = (i & 0x8000) != 0 ? -1.0 : 1.0;
      if (exponent == 31) {
        EXPECT_TRUE(fraction == 0.0 ? std::isinf(wide[i]) : std::isnan(wide[i])) << i;
        continue;
      }
      const double expected =
          exponent == 0 ? sign * fraction * 0x1.0p-24 : sign * std::ldexp(1.0 + fraction / 1024.0, exponent - 15);
      ASSERT_EQ(static_cast<double>(wide[i]), expected) << i;
    }
  });
}

TEST(Half, NarrowsToNearest) {
  for_every_target([] {
    for (const std::size_t count : kAwkwardLengths) {
      const auto row = random_row<float>(count, 4);
      std::vector<std::uint16_t> narrow(count);
      std::vector<float> back(count);
      narrow_half(row, narrow);
      widen_half(narrow, back);
      for (std::size_t j = 0; j < count; ++j) {
        ASSERT_LE(std::abs(back[j] - row[j]), std::abs(row[j]) * 0x1.0p-11F + 0x1.0p-25F);
      }
    }
    const std::vector<float> large = {70000.0F, -70000.0F, 65504.0F};
    std::vector<std::uint16_t> narrow(3);
    narrow_half(large, narrow);
    EXPECT_EQ(narrow, (std::vector<std::uint16_t>{0x7C00, 0xFC00, 0x7BFF}));
  });
}

}  // namespace
}  // namespace annulus
