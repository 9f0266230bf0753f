// Decodes, prepares and encodes one image.
#include "annulus/vision/backbone/image_feature.h"

#include <algorithm>
#include <cmath>

#include "annulus/base/error.h"
#include "annulus/base/matrix.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace annulus {
namespace {

// `input` is one row, as write_network_input makes it.
std::vector<float> run_network(const Matrix<float>& input, const std::string& source, const Backbone& backbone,
                               const PreprocessRecipe& recipe) {
  std::vector<float> row(backbone.dimension());
  backbone.run(input.view(), recipe.output_height(), recipe.output_width(), {row.data(), 1, row.size()});
  check_feature_row(row, source);
  return row;
}

}  // namespace

PreprocessRecipe planar_recipe(PreprocessRecipe recipe) {
  recipe.layout = ChannelLayout::kNchw;
  return recipe;
}

void write_network_input(const Image& image, const PreprocessRecipe& recipe, std::span<float> out,
                         const PhotoView& view) {
  if (view.kind == ViewKind::kWhole) return preprocess(image, planar_recipe(recipe), out);
  preprocess(view_of(image, view), planar_recipe(recipe), out);
}

void write_network_input(std::span<const std::byte> file, const std::string& source, const PreprocessRecipe& recipe,
                         std::span<float> out, const DecodeLimits& limits, const PhotoView& view) {
  DecodeOptions options = decode_options(recipe);
  options.limits = limits;
  write_network_input(decode_image(file, options, source), recipe, out, view);
}

void check_feature_row(std::span<const float> row, const std::string& source) {
  const bool finite = std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); });
  const bool zero = std::all_of(row.begin(), row.end(), [](float value) { return value == 0.0F; });
  if (!finite) fail(ErrorKind::kInput, "{}: its features are not finite", source);
  if (zero) fail(ErrorKind::kInput, "{}: its features are all zero", source);
}

std::vector<float> extract_image(const Image& image, const std::string& source, const Backbone& backbone,
                                 const PreprocessRecipe& recipe, const PhotoView& view) {
  Matrix<float> input(1, recipe.output_size());
  write_network_input(image, recipe, input.row(0), view);
  return run_network(input, source, backbone, recipe);
}

std::vector<float> extract_image(std::span<const std::byte> file, const std::string& source, const Backbone& backbone,
                                 const PreprocessRecipe& recipe, const DecodeLimits& limits) {
  Matrix<float> input(1, recipe.output_size());
  write_network_input(file, source, recipe, input.row(0), limits);
  return run_network(input, source, backbone, recipe);
}

}  // namespace annulus
