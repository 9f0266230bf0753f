// The record of where features come from: chosen, written and compared.
#pragma once

#include <map>
#include <string>

#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

using Provenance = std::map<std::string, std::string>;

// The recipe to use: `chosen` (a preset or recipe text) when it is given, else the one that the model file names.
// Throws Error{kUsage} when there is neither, and when its image size is not the one that the backbone takes.
PreprocessRecipe choose_recipe(const Backbone& backbone, const std::string& chosen = {});

// What extract() writes into the record of the features: backbone, backbone_sha256, backbone_output, preprocessing,
// engine, annulus_version; of an int8 network also precision, float32_sha256 and quantization.
Provenance feature_provenance(const Backbone& backbone, const PreprocessRecipe& recipe,
                              const std::string& backbone_name = {});

// Throws Error{kInput} with one sentence when two records say that features come from other weights, another output of
// the backbone or another preprocessing: those of a model trained on the ones mean nothing for the others. What a
// record does not say is not compared. `model_source` and `source` name the two in the message.
void check_same_provenance(const Provenance& model, const std::string& model_source, const Provenance& features,
                           const std::string& source);

// "float32" or "int8".
std::string precision_of(const Provenance& record);
// The record as float32 would give it, for comparisons where either precision will do.
Provenance without_precision(Provenance record);
// Throws Error{kInput} when the two records name one network in two precisions.
void check_same_precision(const Provenance& model, const std::string& model_source, const Provenance& features,
                          const std::string& source);

// check_same_provenance for features that the backbone would give now. Returns false when the record does not say which
// backbone its features came from.
bool check_provenance(const Provenance& record, const std::string& source, const Backbone& backbone,
                      const PreprocessRecipe& recipe);

}  // namespace annulus
