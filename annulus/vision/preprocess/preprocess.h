// Converts a decoded image into the floats of a network's input, bit for bit as Pillow and torchvision do.
#pragma once

#include <span>

#include "annulus/vision/image/image.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

// Resizes, crops and scales `image` as the recipe says and writes recipe.output_size() floats to `out`, one slot of a
// batch tensor. Only pixels that the crop needs are computed. Safe to call from several threads at once.
void preprocess(const Image& image, const PreprocessRecipe& recipe, std::span<float> out);

// How images must be decoded for this recipe.
DecodeOptions decode_options(const PreprocessRecipe& recipe);

}  // namespace annulus
