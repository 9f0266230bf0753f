// RAW files of cameras: the preview, turned as the file says; files without one, damaged and cut files.
#include "annulus/vision/image/camera_raw.h"

#include "annulus/vision/image/image_type.h"
#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

using photos::Picture;

TEST(CameraRaw, ShowsThePreviewUpright) {
  for (const char* name : {"preview.dng", "turned_6.dng"}) photos::expect_file(name, Picture::kSmooth, 6, 1);
  const std::string turned = photos::text("turned_6.dng");
  EXPECT_EQ(image_type_of(std::as_bytes(std::span(turned))), ImageType::kRaw);
  DecodeOptions ignoring;
  ignoring.apply_exif = false;
  EXPECT_EQ(photos::decode(turned, ignoring).width, 24U);
}

TEST(CameraRaw, WithoutAPreviewSaysWhatToDo) {
  EXPECT_EQ(photos::complaint(photos::text("no_preview.dng")),
            "photo.jpg: expected a camera RAW file with a whole preview, found none: export the photo as JPEG or TIFF");
}

TEST(CameraRaw, CutAndDamagedFilesAreRejectedInASentence) {
  const std::string whole = photos::text("preview.dng");
  const std::size_t preview = whole.find("\xFF\xD8\xFF");
  ASSERT_NE(preview, std::string::npos);
  EXPECT_NE(photos::complaint(whole.substr(0, preview)), "");
  EXPECT_NE(photos::complaint(whole.substr(0, preview + 300)).find("with a whole preview, found none"),
            std::string::npos);
  photos::expect_damage_survived("preview.dng");
  EXPECT_EQ(photos::complaint("FUJIFILMCCD-RAW 0201FF383501"),
            "photo.jpg: the camera RAW file is truncated: its data ends before its preview does");
}

TEST(CameraRaw, SizesOfPreviewsAreChecked) {
  EXPECT_NE(
      photos::complaint(photos::text("preview.dng"), photos::at_most(900)).find("more than the limit of 900 pixels"),
      std::string::npos);
}

}  // namespace
}  // namespace annulus
