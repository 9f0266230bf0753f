// Preprocessed tensors equal those of Pillow and torchvision to the last bit, for every fixture and recipe.
#include "annulus/vision/preprocess/preprocess.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "annulus/base/parallel.h"
#include "tests/fixtures/image_fixtures.h"

namespace annulus {
namespace {

std::string tensor_digest(const Image& image, const std::string& recipe_text) {
  const PreprocessRecipe recipe = recipe_from_text(recipe_text);
  std::vector<float> tensor(recipe.output_size(), -1e9F);
  preprocess(image, recipe, tensor);
  return sha256_hex(std::as_bytes(std::span(tensor)));
}

// The same formula as in tests/data/make_image_fixtures.py.
Image generated(std::size_t width, std::size_t height) {
  Image image = make_image(width, height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t value = x * 7 + y * 13 + c * 29 + ((x * y) >> 5) + (x ^ y) * (c + 1);
        image.rows()(y, 3 * x + c) = static_cast<std::uint8_t>(value);
      }
    }
  }
  return image;
}

TEST(Preprocess, GivesTorchvisionsTensorsForEveryFixture) {
  std::size_t compared = 0;
  const auto manifest = fixture_manifest();
  for (const auto& entry : manifest["images"]) {
    const std::string name = entry["file"];
    const Image image = decode_image(fixture_bytes(name), {}, name);
    for (const auto& [recipe, digest] : entry["tensors"].items()) {
      EXPECT_EQ(tensor_digest(image, recipe), digest) << name << " by " << recipe;
      ++compared;
    }
  }
  EXPECT_GE(compared, 48U * 10U);
}

TEST(Preprocess, GivesTorchvisionsTensorsForGeneratedSizes) {
  const auto manifest = fixture_manifest();
  ASSERT_GE(manifest["generated"].size(), 10U);
  for (const auto& entry : manifest["generated"]) {
    const std::size_t width = entry["width"];
    const std::size_t height = entry["height"];
    const Image image = generated(width, height);
    for (const auto& [recipe, digest] : entry["tensors"].items()) {
      EXPECT_EQ(tensor_digest(image, recipe), digest) << width << " x " << height << " by " << recipe;
    }
  }
}

TEST(Preprocess, ExtremeShapesStayCheap) {
  // Resizing this whole would take 25 million columns; only the crop's are computed.
  const Image image = generated(100000, 1);
  const PreprocessRecipe recipe = preprocess_preset("unit");
  std::vector<float> tensor(recipe.output_size());
  preprocess(image, recipe, tensor);
  for (const float value : tensor) {
    ASSERT_GE(value, 0.0F);
    ASSERT_LE(value, 1.0F);
  }
}

TEST(Preprocess, SameBitsOnAnyThread) {
  const Image image = generated(500, 375);
  const std::string alone = tensor_digest(image, "imagenet");
  std::vector<std::string> digests(16);
  parallel_for(4, digests.size(), [&](std::size_t i) { digests[i] = tensor_digest(image, "imagenet"); });
  for (const std::string& digest : digests) EXPECT_EQ(digest, alone);
}

TEST(Preprocess, RejectsTheWrongRoom) {
  const Image image = generated(8, 8);
  std::vector<float> tensor(100);
  EXPECT_THROW(preprocess(image, preprocess_preset("imagenet"), tensor), Error);
  EXPECT_THROW(preprocess(Image{}, preprocess_preset("imagenet"), tensor), Error);
}

TEST(Preprocess, TheRecipeDecidesAboutExifAndProfiles) {
  EXPECT_FALSE(decode_options(preprocess_preset("imagenet")).to_srgb);
  EXPECT_TRUE(decode_options(recipe_from_text("imagenet profile=srgb")).to_srgb);
  EXPECT_TRUE(decode_options(preprocess_preset("imagenet")).apply_exif);
  EXPECT_FALSE(decode_options(recipe_from_text("imagenet exif=ignore")).apply_exif);
}

}  // namespace
}  // namespace annulus
