// From an image to its feature row: the only way there, whether the image comes from a file, from bytes or from pixels.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/image/image.h"
#include "annulus/vision/preprocess/photo_view.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

// The recipe as a backbone needs it: three planes. Backbone::run puts channels where its network wants them, so the
// layout that a recipe names changes no feature.
PreprocessRecipe planar_recipe(PreprocessRecipe recipe);

// Writes the input of Backbone::run for one image, or a view of it: recipe.output_size() floats, whatever layout the
// recipe names.
void write_network_input(const Image& image, const PreprocessRecipe& recipe, std::span<float> out,
                         const PhotoView& view = {});
// The same from the bytes of an image file; `source` names it in errors. Throws Error{kFormat}.
void write_network_input(std::span<const std::byte> file, const std::string& source, const PreprocessRecipe& recipe,
                         std::span<float> out, const DecodeLimits& limits = {}, const PhotoView& view = {});

// Throws Error{kInput} for features that no feature file can hold: not finite, or all zero.
void check_feature_row(std::span<const float> row, const std::string& source);

// The feature row of one image; `source` names it in errors. Throws Error{kInput} where check_feature_row does. Safe to
// call from several threads at once.
std::vector<float> extract_image(const Image& image, const std::string& source, const Backbone& backbone,
                                 const PreprocessRecipe& recipe, const PhotoView& view = {});
// The same from the bytes of a file. Throws Error{kFormat} for bytes that are no image.
std::vector<float> extract_image(std::span<const std::byte> file, const std::string& source, const Backbone& backbone,
                                 const PreprocessRecipe& recipe, const DecodeLimits& limits = {});

}  // namespace annulus
