// Facts of readable, resized and broken image files.
#include "annulus/store/images/image_inspection.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "annulus/vision/image/svg.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

constexpr const char* kDrawing =
    R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#888"/><circle cx="3" cy="4" r="2" fill="#fff"/><rect x="5" y="1" width="2" height="6" fill="#100"/></svg>)svg";

TEST(ImageInspection, SeesSizesLooksAndErrors) {
  const ScratchFolder scratch;
  const auto png = [](std::size_t side) {
    const auto bytes = render_svg(kDrawing, side, "test picture");
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::vector<std::string> paths = {
      scratch.write("large.png", png(160)).string(), scratch.write("small.png", png(40)).string(),
      scratch.write("cut.png", png(160).substr(0, 300)).string(), scratch.write("words.jpg", "no image").string(),
      (scratch / "missing.png").string()};
  const auto facts = inspect_images(paths, {}, 2);
  ASSERT_EQ(facts.size(), 5U);
  EXPECT_EQ(facts[0].width, 160U);
  EXPECT_EQ(facts[1].height, 40U);
  EXPECT_NE(facts[0].sha256, facts[1].sha256);
  EXPECT_EQ(facts[0].sha256.size(), 64U);
  EXPECT_LE(std::popcount(facts[0].look ^ facts[1].look), 4);
  EXPECT_NE(facts[0].look, 0U);
  EXPECT_GT(facts[0].contrast, 20.0);
  for (const std::size_t broken : {2U, 3U, 4U}) {
    EXPECT_NE(facts[broken].error.find(paths[broken]), std::string::npos) << facts[broken].error;
    EXPECT_EQ(facts[broken].width, 0U);
  }
  EXPECT_TRUE(facts[0].error.empty());
}

}  // namespace
}  // namespace annulus
