// Random views: their sizes, their colours, and that they are pure functions of seed and number.
#include "annulus/vision/preprocess/random_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace annulus {
namespace {

// Red grows to the right, green downwards.
Image ramp(std::size_t width, std::size_t height) {
  Image image = make_image(width, height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      std::uint8_t* const pixel = image.pixels.get() + 3 * (y * width + x);
      pixel[0] = static_cast<std::uint8_t>(60 + x);
      pixel[1] = static_cast<std::uint8_t>(60 + y);
      pixel[2] = 100;
    }
  }
  return image;
}

bool same(const Image& a, const Image& b) {
  return a.width == b.width && a.height == b.height &&
         std::memcmp(a.pixels.get(), b.pixels.get(), 3 * a.width * a.height) == 0;
}

TEST(RandomView, KeepsEnoughOfTheImageAndMirrorsSomeViews) {
  const Image image = ramp(80, 60);
  const RandomStream stream{3, RandomUse::kSynthetic, 0};
  std::set<std::size_t> widths;
  int mirrored = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const Image view = random_view(image, stream, number);
    ASSERT_LE(view.width, 80U);
    ASSERT_LE(view.height, 60U);
    // Sides are rounded, and cut off where the ratio would make one longer than the image's.
    EXPECT_GE(static_cast<double>(view.width * view.height), 0.28 * 80 * 60);
    widths.insert(view.width);
    if (view.pixels[0] > view.pixels[3 * (view.width - 1)]) ++mirrored;
  }
  EXPECT_GT(widths.size(), 20U);
  EXPECT_GT(mirrored, 60);
  EXPECT_LT(mirrored, 140);
}

TEST(RandomView, IsAPureFunctionOfSeedStreamAndNumber) {
  const Image image = ramp(40, 50);
  const RandomStream stream{3, RandomUse::kSynthetic, 7};
  EXPECT_TRUE(same(random_view(image, stream, 2), random_view(image, stream, 2)));
  EXPECT_FALSE(same(random_view(image, stream, 2), random_view(image, stream, 3)));
  EXPECT_FALSE(same(random_view(image, stream, 2), random_view(image, {4, RandomUse::kSynthetic, 7}, 2)));
  EXPECT_FALSE(same(random_view(image, stream, 2), random_view(image, {3, RandomUse::kSynthetic, 8}, 2)));
}

TEST(RandomView, ChangesTheBrightness) {
  Image image = make_image(16, 16);
  std::fill_n(image.pixels.get(), 3 * 16 * 16, std::uint8_t{100});
  const RandomStream stream{0, RandomUse::kSynthetic, 0};
  std::set<int> values;
  for (std::uint64_t number = 0; number < 100; ++number) values.insert(random_view(image, stream, number).pixels[0]);
  EXPECT_GT(values.size(), 20U);
  EXPECT_GE(*values.begin(), 60);
  EXPECT_LE(*values.rbegin(), 140);
}

TEST(RandomView, OfOnePixelIsOnePixel) {
  const Image view = random_view(ramp(1, 1), {0, RandomUse::kSynthetic, 0}, 0);
  EXPECT_EQ(view.width, 1U);
  EXPECT_EQ(view.height, 1U);
}

}  // namespace
}  // namespace annulus
