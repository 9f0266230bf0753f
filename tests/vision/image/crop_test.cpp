// Boxes to pixels: absolute and relative, at the edges, with a margin; and the pixels themselves.
#include "annulus/vision/image/crop.h"

#include <gtest/gtest.h>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

TEST(Crop, TakesEveryPixelThatTheBoxTouches) {
  EXPECT_EQ(pixels_of({10, 20, 30, 40}, 100, 100, 0, "a"), (PixelBox{10, 20, 30, 40}));
  EXPECT_EQ(pixels_of({10.4, 20.6, 2, 2}, 100, 100, 0, "a"), (PixelBox{10, 20, 3, 3}));
  EXPECT_EQ(pixels_of({10, 20, 30, 40, true}, 200, 50, 0, "a"), (PixelBox{20, 10, 60, 20}));
  // A third of 300 pixels, written with six digits.
  EXPECT_EQ(pixels_of({33.3333, 0, 33.3333, 100, true}, 300, 10, 0, "a"), (PixelBox{100, 0, 100, 10}));
}

TEST(Crop, CutsOffWhatLiesOutside) {
  EXPECT_EQ(pixels_of({-5, 90, 20, 20}, 100, 100, 0, "a"), (PixelBox{0, 90, 15, 10}));
  expect_error(ErrorKind::kInput, "a: expected a box inside of the picture of 100 x 100 pixels, found 100,0,5,5", [] {
    pixels_of({100, 0, 5, 5}, 100, 100, 0, "a");
  });
  expect_error(ErrorKind::kInput, "above 0", [] { pixels_of({0, 0, 0, 5}, 100, 100, 0, "a"); });
}

TEST(Crop, AddsAMarginOfTheBoxsOwnSides) {
  EXPECT_EQ(pixels_of({40, 40, 20, 10}, 100, 100, 0.5, "a"), (PixelBox{30, 35, 40, 20}));
  EXPECT_EQ(pixels_of({0, 40, 20, 10}, 100, 100, 0.5, "a"), (PixelBox{0, 35, 30, 20}));
}

TEST(Crop, CopiesThePixels) {
  Image image = make_image(5, 4);
  for (std::size_t i = 0; i < 60; ++i) image.pixels[i] = static_cast<std::uint8_t>(i);
  const Image part = crop_image(image, {2, 1, 2, 3});
  ASSERT_EQ(part.width, 2U);
  ASSERT_EQ(part.height, 3U);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(part.pixels[y * 6 + i], (y + 1) * 15 + 6 + i);
  }
}

}  // namespace
}  // namespace annulus
