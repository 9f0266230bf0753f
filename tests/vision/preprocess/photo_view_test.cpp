// Views of a photo: how they are named, and that they depend on the photo and the seed alone.
#include "annulus/vision/preprocess/photo_view.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

Image noise(std::size_t width, std::size_t height, std::uint32_t seed) {
  Image image = make_image(width, height);
  std::uint32_t state = seed;
  for (std::size_t i = 0; i < 3 * width * height; ++i) {
    state = state * 1664525U + 1013904223U;
    image.pixels[i] = static_cast<std::uint8_t>(state >> 24U);
  }
  return image;
}

std::string bytes_of(const Image& image) {
  return std::to_string(image.width) + "x" + std::to_string(image.height) + " " +
         std::string(reinterpret_cast<const char*>(image.pixels.get()), 3 * image.width * image.height);
}

TEST(PhotoViews, AreNamedInShort) {
  EXPECT_EQ(views_from_text("none"), PhotoViews{});
  EXPECT_EQ(views_from_text("1"), PhotoViews{});
  EXPECT_EQ(views_from_text("flip"), (PhotoViews{ViewKind::kMirrored, 2, 0}));
  EXPECT_EQ(views_from_text("4"), (PhotoViews{ViewKind::kRandom, 4, 0}));
  EXPECT_EQ(views_from_text("4:9"), (PhotoViews{ViewKind::kRandom, 4, 9}));
  for (const char* const text : {"none", "flip", "2", "64", "3:1"}) EXPECT_EQ(to_text(views_from_text(text)), text);
  for (const char* const text : {"", "0", "65", "-1", "four", "4:", "4:x", "flip:1", " 4", "4 "}) {
    expect_error(ErrorKind::kUsage, "views", [&] { views_from_text(text); });
  }
}

TEST(PhotoViews, BeginWithThePhotoItself) {
  EXPECT_EQ(list_of({}), (std::vector<PhotoView>{{}}));
  EXPECT_EQ(list_of(views_from_text("flip")), (std::vector<PhotoView>{{}, {ViewKind::kMirrored, 0, 0}}));
  const auto views = list_of(views_from_text("4:7"));
  ASSERT_EQ(views.size(), 4U);
  std::set<std::string> names;
  for (const PhotoView& view : views) names.insert(to_text(view));
  EXPECT_EQ(names.size(), 4U);
  EXPECT_EQ(to_text(views.front()), "");
}

TEST(PhotoViews, AMirrorImageOfAMirrorImageIsThePhoto) {
  const Image image = noise(7, 5, 1);
  const PhotoView mirror{ViewKind::kMirrored};
  const Image mirrored = view_of(image, mirror);
  EXPECT_NE(bytes_of(mirrored), bytes_of(image));
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(mirrored.pixels[c], image.pixels[3 * 6 + c]);
  EXPECT_EQ(bytes_of(view_of(mirrored, mirror)), bytes_of(image));
  EXPECT_EQ(bytes_of(view_of(image, {})), bytes_of(image));
}

TEST(PhotoViews, RandomViewsDependOnPixelsSeedAndNumber) {
  const Image image = noise(40, 30, 1);
  const PhotoView view{ViewKind::kRandom, 0, 3};
  const std::string seen = bytes_of(view_of(image, view));
  EXPECT_EQ(bytes_of(view_of(noise(40, 30, 1), view)), seen) << "a copy of the photo has the same view";
  EXPECT_NE(bytes_of(view_of(image, {ViewKind::kRandom, 1, 3})), seen);
  EXPECT_NE(bytes_of(view_of(image, {ViewKind::kRandom, 0, 4})), seen);
  // One pixel more of another photo: another crop.
  std::set<std::size_t> widths;
  for (std::uint32_t other = 0; other < 20; ++other) widths.insert(view_of(noise(40, 30, other), view).width);
  EXPECT_GT(widths.size(), 5U);
}

}  // namespace
}  // namespace annulus
