// Weights of resizing: they add up to one, and the same size changes nothing.
#include "annulus/vision/preprocess/resample.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(ResampleAxis, WeightsOfEveryPixelAddUpToOne) {
  for (const Interpolation interpolation : {Interpolation::kBilinear, Interpolation::kBicubic}) {
    for (const std::size_t out_size : {1U, 7U, 32U, 100U}) {
      const ResampleAxis axis = make_resample_axis(50, out_size, 0, out_size, interpolation);
      ASSERT_EQ(axis.windows.size(), out_size);
      for (const auto& window : axis.windows) {
        std::int64_t sum = 0;
        for (const std::int32_t weight : axis.weights_of(window)) sum += weight;
        EXPECT_NEAR(static_cast<double>(sum), 1 << kResampleBits, 4.0);
        EXPECT_LE(window.first + window.count, 50U);
      }
    }
  }
}

TEST(ResampleAxis, TheSameSizeTakesEachPixelAsItIs) {
  const ResampleAxis axis = make_resample_axis(9, 9, 2, 4, Interpolation::kBicubic);
  ASSERT_EQ(axis.windows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& window = axis.windows[i];
    for (std::uint32_t k = 0; k < window.count; ++k) {
      const bool own = window.first + k == i + 2;
      EXPECT_EQ(axis.weights_of(window)[k], own ? 1 << kResampleBits : 0) << i << " " << k;
    }
  }
}

}  // namespace
}  // namespace annulus
