// Photos and boxes in them: the pixels, their checksums, one decoding for all boxes of a photo.
#include "annulus/store/images/example_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "annulus/base/checksum.h"
#include "annulus/base/parallel.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/image/crop.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string fixture(const std::string& name) { return std::string(ANNULUS_TEST_DATA) + "/photos/" + name; }

bool same(const Image& a, const Image& b) {
  return a.width == b.width && a.height == b.height &&
         std::memcmp(a.pixels.get(), b.pixels.get(), 3 * a.width * a.height) == 0;
}

TEST(ExampleImage, IsTheFileOrABoxInIt) {
  ExampleImages images({});
  const std::string file = fixture("lossless.jxl");
  const Image whole = read_image(file);
  EXPECT_TRUE(same(images.open(file).image(), whole));
  const std::string bytes = content_of(file);
  EXPECT_EQ(images.open(file).sha256(), sha256_hex(std::as_bytes(std::span(bytes))));
  const ExampleImage box = images.open(file + "#xywh=10,4,20,8");
  EXPECT_TRUE(same(box.image(), crop_image(whole, {10, 4, 20, 8})));
  EXPECT_TRUE(same(box.image(0.5), crop_image(whole, {0, 0, 40, 16})));
  EXPECT_TRUE(same(read_image(file + "#xywh=percent:25,50,50,50"), crop_image(whole, {10, 12, 20, 12})));
}

TEST(ExampleImage, BoxesAreOfTheUprightPicture) {
  const std::string file = fixture("turned_6.tif");
  EXPECT_TRUE(same(read_image(file + "#xywh=1,2,3,4"), crop_image(read_image(file), {1, 2, 3, 4})));
}

TEST(ExampleImage, ChecksumsTellBoxesApart) {
  ExampleImages images({});
  const std::string file = fixture("lossless.jxl");
  const std::set<std::string> sums = {images.open(file).sha256(), images.open(file + "#xywh=1,2,3,4").sha256(),
                                      images.open(file + "#xywh=1,2,3,5").sha256(),
                                      images.open(file + "#xywh=percent:1,2,3,4").sha256()};
  EXPECT_EQ(sums.size(), 4U);
  EXPECT_EQ(sums.count(ExampleImages({}).open(file + "#xywh=1,2,3,4").sha256()), 1U);
}

// The file is gone after the first box: the others are cut from what was decoded then.
TEST(ExampleImage, APhotoIsReadOnceForItsBoxes) {
  const ScratchFolder folder;
  const std::string file = (folder / "a.jxl").string();
  std::filesystem::copy_file(fixture("lossless.jxl"), file);
  ExampleImages images({});
  const Image first = images.open(file + "#xywh=0,0,5,5").image();
  std::filesystem::remove(file);
  parallel_for(4, 16, [&](std::size_t i) {
    const Image box = images.open(file + "#xywh=0,0,5," + std::to_string(i + 1)).image();
    EXPECT_EQ(box.height, i + 1);
    EXPECT_EQ(std::memcmp(box.pixels.get(), first.pixels.get(), 15), 0);
  });
  expect_error(ErrorKind::kIo, file, [&] { images.open(file); });
}

TEST(ExampleImage, SaysWhatIsWrong) {
  const ScratchFolder folder;
  ExampleImages images({});
  expect_error(ErrorKind::kInput, "expected a box inside of the picture of 40 x 24 pixels, found 40,0,1,1",
               [&] { images.open(fixture("lossless.jxl") + "#xywh=40,0,1,1").image(); });
  const std::string text = folder.write("t.jpg", "no image at all").string();
  const ExampleImage broken = images.open(text + "#xywh=0,0,1,1");
  for (int i = 0; i < 2; ++i) expect_error(ErrorKind::kFormat, text, [&] { broken.image(); });
  expect_error(ErrorKind::kIo, "none.jpg", [&] { images.open((folder / "none.jpg").string() + "#xywh=0,0,1,1"); });
}

}  // namespace
}  // namespace annulus
