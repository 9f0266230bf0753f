// A trained model as an ONNX graph: its head alone, or the whole way from pixels to class names.
#pragma once

#include <cstddef>
#include <span>

#include "annulus/learn/model/model.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/onnx/onnx_model.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

// Names of inputs and outputs.
inline constexpr const char* kRowsInput = "X";               // [batch, dimension]: raw features
inline constexpr const char* kImagesInput = "pixel_values";  // [batch, 3, height, width]: red, green, blue, 0 to 1
inline constexpr const char* kLabelOutput = "label";         // strings [batch]
inline constexpr const char* kProbabilitiesOutput = "probabilities";  // [batch, classes]
inline constexpr const char* kUnknownOutput = "unknown_score";        // [batch]
inline constexpr const char* kFeaturesOutput = "features";            // [batch, dimension]; of images only

// True for a model with a usable rejection rule: "unknown_score" is then the score of
// annulus/learn/openset/open_set_scores.h, else the largest probability. Larger scores mean that the input is more
// likely of a known class.
bool rejects_unknown(const Model& model);

// The head alone, in operators of ONNX itself. Rows without length give NaN. The model must outlive write().
OnnxModel feature_graph(const Model& model);

// The backbone with the scaling of values before it and the head after it; resizing and cropping are left to the
// caller. `backbone_file` holds the bytes of the backbone's file, which, like the model, must outlive write(). Throws
// Error{kInput} for a backbone that cannot be embedded: weights in another file, an operator set before 10, or features
// that are a mean of patch tokens.
OnnxModel image_graph(const Model& model, const Backbone& backbone, std::span<const std::byte> backbone_file,
                      const PreprocessRecipe& recipe);

}  // namespace annulus
