// An encoder turns images into features: one or several backbones with their preprocessing, found by name or by a
// model's provenance, and the views of each image that they see.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/note.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"
#include "annulus/pipeline/backbones/backbone_catalogue.h"
#include "annulus/pipeline/backbones/choose_backbone.h"
#include "annulus/pipeline/extract.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/preprocess/photo_view.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

struct EncoderOptions {
  // A name that `annulus backbones` lists, or an ONNX file, or several joined by "+"; empty or "auto": choose_backbone.
  std::string backbone;
  std::string preprocess;  // preset or recipe, or one for each backbone joined by " + "; empty: the backbones' own
  std::string cache;       // folder of computed features; empty: the user's cache
  bool strict = false;     // a broken image is an error
  NoteCallback note{};     // hears of licences and checksums before a download; empty: nobody listens
  BackboneQuestion ask{};  // which network, where none is named and none is there; empty: nobody can be asked
  std::optional<PhotoViews> views{};  // nothing: none for training, those of the model for predictions
  bool view_examples = false;         // every view of a training example is one of its own, in place of their mean
  bool srgb = false;  // images are converted to sRGB (PreprocessRecipe::to_srgb), also where the preprocessing does not
  std::optional<double> crop_margin{};  // around boxes (PreprocessRecipe::box_margin); none: as in the preprocessing
  // "float32", "int8" or "auto"; empty: float32, or what a model was trained with.
  std::string precision{};
};

// One network with its preprocessing.
struct EncoderPart {
  std::string name;  // for records
  Backbone backbone;
  PreprocessRecipe recipe;
};

// The features of an image: of each part, the mean over the views; of several parts, each scaled to length 1 and put
// one after the other.
struct Encoder {
  std::string name;                // for records: those of the parts, joined by "+"
  std::vector<EncoderPart> parts;  // one or more
  PhotoViews views{};

  std::size_t dimension() const;
};

// The backbones that a text names: itself, or those that it joins by "+". Throws Error{kUsage} for an empty or repeated
// one.
std::vector<std::string> joined_backbones(const std::string& text);

// The networks of the catalogue that a record names, which may be joined: those whose checksum is the recorded one
// where the catalogue knows it.
std::vector<const BackboneEntry*> known_backbones_of(const Provenance& provenance);

// Chooses the backbone where none is named, for the images of these files (none: not known); downloads and imports it
// where needed, and opens it. The images also give the ranges of an int8 form that has to be made.
Encoder open_encoder(const EncoderOptions& options, const ProgressCallback& progress,
                     std::span<const std::string> images = {});

// The encoder that a model (read from model_file) was trained with; `options` may name its file. Throws Error{kInput}
// if it is another one or uses another preprocessing. Another precision than the model's has to be asked for.
Encoder open_encoder_of(const Model& model, const std::string& model_file, EncoderOptions options,
                        const ProgressCallback& progress);

// Options for extract(); features are float32.
ExtractOptions extract_options(const EncoderOptions& options, const Encoder& encoder, int threads);

// What the record of the features says. Of several parts each entry has all values, joined by " + " (names by "+").
Provenance feature_provenance(const Encoder& encoder);

// Names everything that features depend on besides the image.
std::string feature_maker(const Encoder& encoder);

}  // namespace annulus
