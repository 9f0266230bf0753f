// The way from the pixels of an image to class names as one graph: backbones, their joined features, and the head.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "annulus/learn/model/model.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/onnx/onnx_model.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

inline constexpr const char* kImagesInput = "pixel_values";  // [batch, 3, height, width]: red, green, blue, 0 to 1
inline constexpr const char* kFeaturesOutput = "features";   // [batch, dimension]

struct ExportedEncoder {
  const Backbone& backbone;
  PreprocessRecipe recipe;  // that the model was trained with
  std::string name;         // of the backbone, for the record
};

// The resizing and cropping of a recipe: what is left to the caller of the graph.
PreprocessRecipe geometry_of(PreprocessRecipe recipe);

// The backbones with the scaling of values before them and the head after them; resizing and cropping are left to the
// caller. Several are joined as join_row does; `mirrored` takes the mean of each image and its mirror image. `files`
// holds the bytes of the backbones' files, which, like the model, must outlive write(). Throws Error{kInput} for
// backbones that cannot be embedded: weights in another file, an operator set before 10 or another than that of the
// other network, features that are a mean of patch tokens, different sizes of images, or a fixed batch size that does
// not fit.
OnnxModel image_graph(const Model& model, std::span<const ExportedEncoder> encoders,
                      std::span<const std::span<const std::byte>> files, bool mirrored);

}  // namespace annulus
