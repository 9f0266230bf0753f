// Pictures are read once, and those that cannot be read are none.
#include "annulus/pipeline/page_pictures.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(PagePictures, AreDataAndReadOnce) {
  const ScratchFolder scratch;
  const std::string image = (scratch / "a.jpg").string();
  std::filesystem::copy_file(std::string(ANNULUS_TEST_DATA) + "/images/exif_1.jpg", image);
  const auto pictures = page_pictures();
  const auto first = pictures(image);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->starts_with("data:image/"));
  std::filesystem::remove(image);
  EXPECT_EQ(pictures(image), first);
  EXPECT_FALSE(pictures((scratch / "missing.jpg").string()));
  EXPECT_FALSE(pictures(scratch.write("broken.jpg", "no image").string()));
}

TEST(PagePictures, StopWhenTold) {
  const auto pictures = page_pictures([](const Progress&) { return false; });
  expect_error(ErrorKind::kCancelled, "", [&] { pictures("a.jpg"); });
}

}  // namespace
}  // namespace annulus
