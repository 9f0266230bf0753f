// Images on the command line: the backbone and the preparation that turn them into features.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "annulus/learn/model.h"
#include "annulus/store/extract.h"
#include "annulus/vision/backbone.h"
#include "annulus/vision/preprocess_recipe.h"
#include "cli/progress_bar.h"

namespace annulus::cli {

inline constexpr const char* kDefaultBackbone = "mobilenet-0.25";

struct EncoderOptions {
  std::string backbone;    // a name that `annulus backbones` lists, or an ONNX file; empty: chosen by the verb
  std::string preprocess;  // preset or recipe; empty: what the backbone asks for
  std::string cache;       // folder of computed features; empty: the user's cache
  bool strict = false;     // a broken image is an error
};

// --backbone, --preprocess, --cache and --strict. `default_backbone` says in the help what happens without the first.
void add_encoder_options(CLI::App& command, EncoderOptions& options, const std::string& default_backbone);

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

// Tells of the images that were left out, the first few by name.
void note_broken_images(const ExtractReport& report, ProgressBar& bar);

}  // namespace annulus::cli
