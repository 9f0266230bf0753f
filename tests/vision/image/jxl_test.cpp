// JPEG XL: lossless, lossy, in boxes and made of a JPEG; damaged and cut files.
#include "annulus/vision/image/jxl.h"

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

using photos::Picture;

TEST(Jxl, ShowsThePicture) {
  for (const char* name : {"lossless.jxl", "boxes.jxl", "alpha.jxl", "rgb16.jxl"}) {
    photos::expect_file(name, Picture::kSmooth, 0, 0);
  }
  photos::expect_file("grey.jxl", Picture::kRedOfSmooth, 0, 0);
  photos::expect_file("lossy.jxl", Picture::kSmooth, 30, 2);
  photos::expect_picture(photos::decode(photos::text("pixel.jxl")), Picture::kSmooth, 0, 0, "pixel.jxl", 1, 1);
}

TEST(Jxl, IsTurnedOnce) {
  for (const char* name : {"jpeg_turned_6.jxl", "jpeg_turned_8.jxl"}) {
    photos::expect_file(name, Picture::kSmooth, 4, 1);
  }
}

TEST(Jxl, CutAndDamagedFilesAreRejectedInASentence) {
  photos::expect_cuts_rejected("lossless.jxl", photos::text("lossless.jxl").size() - 1);
  photos::expect_cuts_rejected("boxes.jxl", photos::text("boxes.jxl").size() - 1);
  photos::expect_damage_survived("lossy.jxl");
  const std::string whole = photos::text("lossless.jxl");
  EXPECT_EQ(photos::complaint(whole.substr(0, whole.size() / 2)),
            "photo.jpg: the JPEG XL file is truncated: its data ends before the last pixel");
}

TEST(Jxl, SizesAreCheckedBeforePixelsAreDecoded) {
  EXPECT_EQ(photos::complaint(photos::text("lossless.jxl"), photos::at_most(900)),
            "photo.jpg: the JPEG XL image is 40 x 24 pixels, more than the limit of 900 pixels");
}

TEST(Jxl, TheDeadlineIsHeardWithinTheFile) {
  const std::string text = photos::text("lossy.jxl");
  DecodeLimits late;
  late.deadline = now();
  expect_error(ErrorKind::kCancelled, "longer than the time",
               [&] { decode_jxl(std::as_bytes(std::span(text)), late, "a"); });
}

}  // namespace
}  // namespace annulus
