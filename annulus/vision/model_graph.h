// A trained model as an ONNX graph: its head alone, or the whole way from pixels to class names.
#pragma once

#include <cstddef>
#include <span>

#include "annulus/learn/model.h"
#include "annulus/vision/backbone.h"
#include "annulus/vision/onnx_model.h"
#include "annulus/vision/preprocess_recipe.h"

namespace annulus {

// Names of what goes in and comes out.
inline constexpr const char* kRowsInput = "X";               // [batch, dimension]: raw features
inline constexpr const char* kImagesInput = "pixel_values";  // [batch, 3, height, width]: red, green, blue, 0 to 1
inline constexpr const char* kLabelOutput = "label";         // strings [batch]
inline constexpr const char* kProbabilitiesOutput = "probabilities";  // [batch, classes]
inline constexpr const char* kUnknownOutput = "unknown_score";        // [batch]
inline constexpr const char* kFeaturesOutput = "features";            // [batch, dimension]; of images only

// True for a model whose rule can be asked: "unknown_score" is then the score of annulus/learn/unknown.h, else the
// largest probability. The larger, the better known.
bool knows_strangers(const Model& model);

// The head alone, in operators of ONNX itself. Rows without length give NaN. The model must outlive write().
OnnxModel feature_graph(const Model& model);

// The backbone with the scaling of values before it and the head behind it; resizing and cropping are left to the
// caller. `backbone_file` holds the bytes of the backbone's file, which, like the model, must outlive write(). Throws
// Error{kInput} for a backbone that no other graph can hold: weights in another file, an operator set before 10, or
// features that are a mean of patch tokens.
OnnxModel image_graph(const Model& model, const Backbone& backbone, std::span<const std::byte> backbone_file,
                      const PreprocessRecipe& recipe);

}  // namespace annulus
