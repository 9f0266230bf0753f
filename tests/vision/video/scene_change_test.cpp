// Cuts are found; pans, fades and noise are none.
#include "annulus/vision/video/scene_change.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace annulus {
namespace {

Image plain(int red, int green, int blue) {
  Image image = make_image(64, 48);
  for (std::size_t i = 0; i < std::size_t{64} * 48; ++i) {
    image.pixels[3 * i] = static_cast<std::uint8_t>(red);
    image.pixels[3 * i + 1] = static_cast<std::uint8_t>(green);
    image.pixels[3 * i + 2] = static_cast<std::uint8_t>(blue);
  }
  return image;
}

TEST(SceneChange, TheFirstFrameAndEachCut) {
  SceneChange scenes;
  EXPECT_TRUE(scenes.begins(plain(200, 0, 0)));
  EXPECT_FALSE(scenes.begins(plain(200, 0, 0)));
  EXPECT_TRUE(scenes.begins(plain(0, 100, 0)));  // as bright as before
  EXPECT_FALSE(scenes.begins(plain(0, 104, 3)));
  EXPECT_TRUE(scenes.begins(plain(200, 200, 200)));
}

TEST(SceneChange, FadesAndPansAreNone) {
  SceneChange fade;
  EXPECT_TRUE(fade.begins(plain(0, 0, 0)));
  for (int grey = 10; grey <= 250; grey += 10) EXPECT_FALSE(fade.begins(plain(grey, grey, grey))) << grey;
  SceneChange pan;
  for (std::size_t step = 0; step < 30; ++step) {
    Image image = plain(30, 30, 30);
    for (std::size_t y = 0; y < 48; ++y) {
      for (std::size_t x = step; x < std::min<std::size_t>(step + 24, 64); ++x) image.rows().row(y)[3 * x] = 230;
    }
    EXPECT_EQ(pan.begins(image), step == 0) << step;
  }
}

}  // namespace
}  // namespace annulus
