// TIFF: compressions, samples and orientations; damaged, cut and lying files.
#include "annulus/vision/image/tiff.h"

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

using photos::Picture;

TEST(Tiff, ShowsThePictureToTheLastBit) {
  for (const char* name : {"lzw.tif", "adobe_deflate.tif", "packbits.tif", "rgb16.tif", "rgb16_big_endian.tif",
                           "planes.tif", "alpha.tif", "cmyk.tif", "named.jpg"}) {
    photos::expect_file(name, Picture::kSmooth, 0, 0);
  }
  photos::expect_file("jpeg.tif", Picture::kSmooth, 3, 1);
  for (const char* name : {"grey16.tif", "white_is_zero.tif"}) photos::expect_file(name, Picture::kRedOfSmooth, 0, 0);
  photos::expect_file("palette.tif", Picture::kBlocks, 0, 0);
  photos::expect_picture(photos::decode(photos::text("pixel.tif")), Picture::kSmooth, 0, 0, "pixel.tif", 1, 1);
}

TEST(Tiff, IsTurnedAsItsTagSays) {
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string name = "turned_" + std::to_string(orientation) + ".tif";
    photos::expect_file(name, Picture::kSmooth, 0, 0);
    DecodeOptions ignoring;
    ignoring.apply_exif = false;
    EXPECT_EQ(photos::decode(photos::text(name), ignoring).width, orientation >= 5 ? 24U : 40U) << name;
  }
}

TEST(Tiff, CutAndDamagedFilesAreRejectedInASentence) {
  for (const char* name : {"rgb16.tif", "lzw.tif", "cmyk.tif", "planes.tif"}) {
    photos::expect_cuts_rejected(name, photos::text(name).size() - 10);
  }
  for (const char* name : {"rgb16.tif", "lzw.tif", "jpeg.tif", "palette.tif"}) photos::expect_damage_survived(name);
  const std::string whole = photos::text("rgb16.tif");
  EXPECT_EQ(photos::complaint(whole.substr(0, whole.size() / 2)),
            "photo.jpg: the TIFF file is truncated: its data ends before the last pixel");
  const std::string packed = photos::text("lzw.tif");  // its directory is at the end
  EXPECT_EQ(photos::complaint(packed.substr(0, packed.size() / 2)),
            "photo.jpg: the TIFF file is truncated or damaged: its directory cannot be read");
}

TEST(Tiff, SizesAreCheckedBeforeMemoryIsTaken) {
  EXPECT_EQ(photos::complaint(photos::text("huge.tif")),
            "photo.jpg: the TIFF image is 60000 x 60000 pixels, more than the limit of 200000000 pixels");
  EXPECT_EQ(photos::complaint(photos::text("lying.tif")),
            "photo.jpg: the TIFF file is truncated: its data ends before the last pixel");
}

TEST(Tiff, TheDeadlineIsHeardWithinTheFile) {
  const std::string text = photos::text("lzw.tif");
  DecodeLimits late;
  late.deadline = now();
  expect_error(ErrorKind::kCancelled, "longer than the time",
               [&] { decode_tiff(std::as_bytes(std::span(text)), late, "a"); });
}

}  // namespace
}  // namespace annulus
