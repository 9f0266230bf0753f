// Image files read from disk.
#include "annulus/store/images/image_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;

TEST(ImageFile, ReadsWithinTheLimit) {
  const ScratchFolder folder;
  const fs::path path = folder.write("a.jpg", "0123456789");
  EXPECT_EQ(load_image_bytes(path, 10).size(), 10U);
  expect_error(ErrorKind::kFormat, "has 10 bytes, more than the limit of 9", [&] { load_image_bytes(path, 9); });
  expect_error(ErrorKind::kIo, "cannot be opened", [&] { load_image_bytes(folder / "none.jpg", 9); });
  expect_error(ErrorKind::kIo, "found a folder", [&] { load_image_bytes(folder.path(), 9); });
  expect_error(ErrorKind::kFormat,
               "a.jpg: expected a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW image, found text",
               [&] { read_image(path); });
}

TEST(ImageFile, DecodesAFixture) {
  const Image image = read_image(fs::path(ANNULUS_TEST_DATA) / "images" / "jpeg_97x61.jpg");
  EXPECT_EQ(image.width, 97U);
  EXPECT_EQ(image.height, 61U);
}

}  // namespace
}  // namespace annulus
