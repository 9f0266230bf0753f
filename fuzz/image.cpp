// Fuzzes decoding of every image format, told apart by content, EXIF included, and preprocessing of what was decoded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/vision/preprocess/preprocess.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<annulus::PreprocessRecipe> kRecipes = {
      annulus::recipe_from_text("episode-32"),
      annulus::recipe_from_text("imagenet resize=shorter:40 crop=37x29 layout=nhwc exif=ignore"),
      annulus::recipe_from_text("keras-caffe resize=none crop=48"),
      annulus::recipe_from_text("signed resize=17x50 crop=60x20"),
  };
  const annulus::PreprocessRecipe& recipe = kRecipes[size % kRecipes.size()];
  annulus::DecodeOptions options = annulus::decode_options(recipe);
  options.limits.max_pixels = std::size_t{1} << 20;
  try {
    const annulus::Image image = annulus::decode_image(std::as_bytes(std::span(data, size)), options, "fuzz");
    std::vector<float> tensor(recipe.output_size());
    annulus::preprocess(image, recipe, tensor);
  } catch (const annulus::Error& error) {
    if (error.kind() != annulus::ErrorKind::kFormat) std::abort();
  }
  return 0;
}
