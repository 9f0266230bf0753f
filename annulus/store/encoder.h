// What turns images into features: a backbone with the preparation it asks for, found by name or by a model's record.
#pragma once

#include <string>

#include "annulus/base/progress.h"
#include "annulus/learn/model.h"
#include "annulus/store/extract.h"
#include "annulus/vision/backbone.h"
#include "annulus/vision/preprocess_recipe.h"

namespace annulus {

inline constexpr const char* kDefaultBackbone = "mobilenet-0.25";

struct EncoderOptions {
  std::string backbone;    // a name that `annulus backbones` lists, or an ONNX file; empty: kDefaultBackbone
  std::string preprocess;  // preset or recipe; empty: what the backbone asks for
  std::string cache;       // folder of computed features; empty: the user's cache
  bool strict = false;     // a broken image is an error
};

struct Encoder {
  std::string name;  // for records
  Backbone backbone;
  PreprocessRecipe recipe;
};

// Finds the backbone, downloads and converts it where needed, and opens it.
Encoder open_encoder(const EncoderOptions& options, const ProgressCallback& progress);

// The one that a model (read from model_file) was trained with; `options` may name its file. Throws Error{kInput} when
// it is another one or prepares images otherwise.
Encoder open_encoder_of(const Model& model, const std::string& model_file, EncoderOptions options,
                        const ProgressCallback& progress);

// What extract() is to do with them; rows are float32.
ExtractOptions extract_options(const EncoderOptions& options, const Encoder& encoder, int threads);

}  // namespace annulus
