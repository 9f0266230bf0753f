// One image gives one row: from bytes or pixels, and whatever layout its recipe names.
#include "annulus/vision/backbone/image_feature.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/vision/image/svg.h"
#include "annulus/vision/preprocess/preprocess.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"

namespace annulus {
namespace {

std::vector<std::byte> picture() {
  return render_svg(
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="3" y="5" width="7" height="9" fill="rgb(200,90,17)"/></svg>)svg",
      16, "picture");
}

TEST(ImageFeature, NetworkInputIsPlanarWhateverTheRecipeSays) {
  const auto file = picture();
  const PreprocessRecipe interleaved = recipe_from_text("imagenet resize=8x8 crop=none layout=nhwc");
  const PreprocessRecipe planar = planar_recipe(interleaved);
  const Image image = decode_image(file, decode_options(interleaved), "picture");
  std::vector<float> expected(planar.output_size());
  std::vector<float> as_named(planar.output_size());
  preprocess(image, planar, expected);
  preprocess(image, interleaved, as_named);
  ASSERT_NE(expected, as_named);
  std::vector<float> found(planar.output_size());
  write_network_input(image, interleaved, found);
  EXPECT_EQ(found, expected);
  std::vector<float> from_bytes(planar.output_size());
  write_network_input(file, "picture", interleaved, from_bytes);
  EXPECT_EQ(from_bytes, expected);
  expect_error(ErrorKind::kFormat, "picture",
               [&] { write_network_input(std::span(file).first(4), "picture", interleaved, from_bytes); });
}

TEST(ImageFeature, RowsThatNoFileHoldsAreNamed) {
  expect_error(ErrorKind::kInput, "moth.png: its features are all zero", [] {
    check_feature_row(std::vector<float>{0.0F, 0.0F}, "moth.png");
  });
  expect_error(ErrorKind::kInput, "moth.png: its features are not finite", [] {
    check_feature_row(std::vector<float>{1.0F, std::numeric_limits<float>::infinity()}, "moth.png");
  });
  EXPECT_NO_THROW(check_feature_row(std::vector<float>{0.0F, 1.0F}, "moth.png"));
}

class ImageFeatureTest : public NeedsOnnxRuntime {};

TEST_F(ImageFeatureTest, BytesAndPixelsInBothLayoutsGiveTheSameBits) {
  const auto file = picture();
  std::vector<float> first;
  for (const char* name : {"vector", "channels_last"}) {
    const Backbone backbone(std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" / (std::string(name) + ".onnx"));
    for (const char* layout : {"nchw", "nhwc"}) {
      const PreprocessRecipe recipe = recipe_from_text("imagenet resize=8x8 crop=none layout=" + std::string(layout));
      const Image image = decode_image(file, decode_options(recipe), "picture");
      const std::vector<float> row = extract_image(image, "picture", backbone, recipe);
      if (first.empty()) first = row;
      EXPECT_EQ(row, first) << name << ' ' << layout;
      EXPECT_EQ(extract_image(file, "picture", backbone, recipe), first) << name << ' ' << layout;
    }
  }
}

}  // namespace
}  // namespace annulus
