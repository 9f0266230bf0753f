// GIF: the first frame, interlaced or not, on its canvas; damaged, cut and lying files.
#include "annulus/vision/image/gif.h"

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

using photos::Picture;

TEST(Gif, ShowsTheFirstFrameToTheLastBit) {
  for (const char* name : {"blocks.gif", "interlaced.gif", "transparent.gif", "animated.gif"}) {
    photos::expect_file(name, Picture::kBlocks, 0, 0);
  }
  photos::expect_picture(photos::decode(photos::text("pixel.gif")), Picture::kSmooth, 0, 0, "pixel.gif", 1, 1);
}

// A canvas, two colours (black and white), and a white frame of one pixel.
std::string white_dot(int width, int height, int left, int top) {
  const auto number = [](int value) {
    return std::string{static_cast<char>(value & 255), static_cast<char>(value >> 8)};
  };
  return "GIF89a" + number(width) + number(height) + std::string("\x80\0\0", 3) + std::string("\0\0\0\xFF\xFF\xFF", 6) +
         "," + number(left) + number(top) + number(1) + number(1) + std::string("\0\x02\x02\x4C\x01\0;", 7);
}

TEST(Gif, FramesLieOnACanvasThatGrowsWithThem) {
  const Image image = photos::decode(white_dot(5, 4, 3, 2));
  ASSERT_EQ(image.width, 5U);
  ASSERT_EQ(image.height, 4U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(image.pixels[3 * i], i == 2 * 5 + 3 ? 255 : 0) << i;
  const Image beyond = photos::decode(white_dot(5, 4, 8, 6));
  EXPECT_EQ(beyond.width, 9U);
  EXPECT_EQ(beyond.height, 7U);
  EXPECT_EQ(beyond.pixels[3 * (9 * 7 - 1)], 255);
}

TEST(Gif, CutAndDamagedFilesAreRejectedInASentence) {
  photos::expect_cuts_rejected("blocks.gif", photos::text("blocks.gif").size() - 6);
  photos::expect_damage_survived("blocks.gif");
  photos::expect_damage_survived("interlaced.gif");
  const std::string whole = photos::text("blocks.gif");
  EXPECT_EQ(photos::complaint(whole.substr(0, whole.size() * 3 / 4)),
            "photo.jpg: the GIF file is truncated: its data ends before the last pixel");
  EXPECT_EQ(photos::complaint(white_dot(5, 4, 3, 2).substr(0, 19) + ";"),
            "photo.jpg: the GIF file cannot be decoded: it holds no frame");
}

TEST(Gif, SizesAreCheckedBeforeMemoryIsTaken) {
  EXPECT_EQ(photos::complaint(white_dot(65535, 65535, 0, 0)),
            "photo.jpg: the GIF image is 65535 x 65535 pixels, more than the limit of 200000000 pixels");
  EXPECT_NE(photos::complaint(white_dot(14000, 14000, 0, 0)).find("bytes cannot hold 14000 x 14000 pixels"),
            std::string::npos);
}

TEST(Gif, TheDeadlineIsHeardWithinTheFile) {
  const std::string text = photos::text("blocks.gif");
  DecodeLimits late;
  late.deadline = now();
  expect_error(ErrorKind::kCancelled, "longer than the time",
               [&] { decode_gif(std::as_bytes(std::span(text)), late, "a"); });
}

}  // namespace
}  // namespace annulus
