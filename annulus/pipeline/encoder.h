// An encoder turns images into features: a backbone with its preprocessing, found by name or by a model's provenance.
#pragma once

#include <cstddef>
#include <string>

#include "annulus/base/note.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"
#include "annulus/pipeline/backbones/choose_backbone.h"
#include "annulus/pipeline/extract.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

struct EncoderOptions {
  std::string backbone;    // a name that `annulus backbones` lists, or an ONNX file; empty or "auto": choose_backbone
  std::string preprocess;  // preset or recipe; empty: the backbone's own
  std::string cache;       // folder of computed features; empty: the user's cache
  bool strict = false;     // a broken image is an error
  NoteCallback note{};     // hears of licences and checksums before a download; empty: nobody listens
  BackboneQuestion ask{};  // which network, where none is named and none is there; empty: nobody can be asked
};

struct Encoder {
  std::string name;  // for records
  Backbone backbone;
  PreprocessRecipe recipe;
};

// Chooses the backbone where none is named, for so many images (0: not known); downloads and imports it where needed,
// and opens it.
Encoder open_encoder(const EncoderOptions& options, const ProgressCallback& progress, std::size_t images = 0);

// The encoder that a model (read from model_file) was trained with; `options` may name its file. Throws Error{kInput}
// if it is another one or uses another preprocessing.
Encoder open_encoder_of(const Model& model, const std::string& model_file, EncoderOptions options,
                        const ProgressCallback& progress);

// Options for extract(); features are float32.
ExtractOptions extract_options(const EncoderOptions& options, const Encoder& encoder, int threads);

}  // namespace annulus
