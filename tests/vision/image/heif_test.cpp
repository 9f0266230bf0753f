// HEIC and AVIF: pixels, rotations, bits and alpha; damaged, cut and lying files.
#include "annulus/vision/image/heif.h"

#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

using photos::Picture;

TEST(Heif, ShowsThePicture) {
  for (const char* name : {"smooth.heic", "smooth.avif", "alpha.heic", "alpha.avif", "ten_bits.heic"}) {
    photos::expect_file(name, Picture::kSmooth, 14, 5);  // colours at half the resolution
  }
  for (const char* name : {"lossless.heic", "lossless.avif"}) photos::expect_file(name, Picture::kSmooth, 1, 0.5);
  photos::expect_file("grey.heic", Picture::kRedOfSmooth, 2, 1);
  for (const char* name : {"pixel.heic", "pixel.avif"}) {
    photos::expect_picture(photos::decode(photos::text(name)), Picture::kSmooth, 2, 2, name, 1, 1);
  }
}

// The files have a rotation of their own and the same in EXIF, as phones write them.
TEST(Heif, IsTurnedOnce) {
  for (const char* name : {"turned_3.heic", "turned_6.heic", "turned_8.heic"}) {
    photos::expect_file(name, Picture::kSmooth, 20, 6);
    DecodeOptions ignoring;
    ignoring.apply_exif = false;
    photos::expect_picture(photos::decode(photos::text(name), ignoring), Picture::kSmooth, 20, 6, name);
  }
}

TEST(Heif, CutAndDamagedFilesAreRejectedInASentence) {
  for (const char* name : {"smooth.heic", "smooth.avif"}) {
    photos::expect_cuts_rejected(name, photos::text(name).size() - 1);
    photos::expect_damage_survived(name);
  }
  const std::string whole = photos::text("smooth.heic");
  EXPECT_EQ(photos::complaint(whole.substr(0, whole.size() * 9 / 10)),
            "photo.jpg: the HEIC file is truncated: its data ends before the last pixel");
}

TEST(Heif, SizesAreCheckedBeforePixelsAreDecoded) {
  EXPECT_EQ(photos::complaint(photos::text("smooth.avif"), photos::at_most(900)),
            "photo.jpg: the AVIF image is 40 x 24 pixels, more than the limit of 900 pixels");
  for (const std::string name : {"smooth.heic", "smooth.avif"}) {
    for (const std::string& side : {std::string("\0\0\x4E\x20", 4), std::string("\0\0\xEA\x60", 4)}) {
      std::string lying = photos::text(name);
      std::size_t found = 0;
      for (std::size_t at = lying.find("ispe"); at != std::string::npos; at = lying.find("ispe", at + 1), ++found) {
        lying.replace(at + 8, 8, side + side);  // 20000 and 60000
      }
      ASSERT_GT(found, 0U);
      EXPECT_NE(photos::complaint(lying).find("000"), std::string::npos) << photos::complaint(lying);
    }
  }
}

}  // namespace
}  // namespace annulus
