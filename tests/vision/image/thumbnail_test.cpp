// Thumbnails: small WebP pictures in the address of an <img>.
#include "annulus/vision/image/thumbnail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/base64.h"

namespace annulus {
namespace {

Image halves(std::size_t width, std::size_t height) {
  Image image = make_image(width, height);
  for (std::size_t i = 0; i < 3 * width * height; ++i) image.pixels[i] = (i / 3) % width < width / 2 ? 20 : 220;
  return image;
}

TEST(Thumbnail, IsSmallAndShowsThePicture) {
  for (const auto& [width, height, small_width, small_height] : std::vector<std::array<std::size_t, 4>>{
           {400, 200, 168, 84}, {50, 30, 50, 30}, {1000, 2, 168, 1}, {1, 1, 1, 1}}) {
    const std::string uri = thumbnail_uri(halves(width, height), 168);
    const std::string_view prefix = "data:image/webp;base64,";
    ASSERT_TRUE(uri.starts_with(prefix));
    EXPECT_EQ((uri.size() - prefix.size()) % 4, 0U);
    EXPECT_LT(uri.size(), 20'000U);
    const std::string webp = base64_decoded(std::string_view(uri).substr(prefix.size()));
    const Image image = decode_image(std::as_bytes(std::span(webp)), {}, "thumbnail");
    EXPECT_EQ(image.width, small_width);
    EXPECT_EQ(image.height, small_height);
    if (width < 50) continue;
    EXPECT_NEAR(image.pixels[3 * (image.width / 4)], 20, 12);
    EXPECT_NEAR(image.pixels[3 * (image.width * 3 / 4)], 220, 12);
  }
}

TEST(Thumbnail, AStripHoldsTheSquaresInTheMiddleOfItsImages) {
  // Of a wide image the middle, where it turns from dark to light; of a tall one all of its width.
  std::vector<Image> images;
  images.push_back(halves(300, 100));
  images.emplace_back();
  images.push_back(halves(20, 90));
  const std::string webp = strip_webp(images, 48, 4);
  const Image strip = decode_image(std::as_bytes(std::span(webp)), {}, "strip");
  ASSERT_EQ(strip.width, 3U * 52U);
  ASSERT_EQ(strip.height, 48U);
  const auto at = [&](std::size_t x) { return static_cast<int>(strip.rows()(24, 3 * x)); };
  EXPECT_NEAR(at(8), 20, 12);
  EXPECT_NEAR(at(40), 220, 12);
  EXPECT_NEAR(at(52 + 24), 255, 4);
  EXPECT_NEAR(at(104 + 8), 20, 12);
  EXPECT_NEAR(at(104 + 40), 220, 12);
  EXPECT_NEAR(at(104 + 51), 255, 24);
}

}  // namespace
}  // namespace annulus
