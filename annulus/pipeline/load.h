// The one way from a path to a FeatureSet: a feature file in any format, an image, a folder or a list of images.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "annulus/base/note.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct LoadOptions {
  std::filesystem::path labels;  // labels of a feature file that has none: .npy, or text with one a line
  std::filesystem::path list;    // k-shot list: take only the images it names, in its order; empty: all of a folder
  EncoderOptions encoder;        // of images
  int threads = 0;               // 0: all processors
  double first_fraction = 0.0;   // where in the list of images to begin, for processes that share a cache
  ProgressCallback progress{};   // empty: nobody is watching
  NoteCallback note{};           // empty: nobody listens
  bool verify = true;            // as ReadOptions has it
  BoxOptions boxes{};            // boxes in photos, each an example; the encoder has their margin
  FrameOptions frames{};         // frames of videos, each an example
  bool nested = false;           // folders in class folders are classes, named by their path
};

// Features to learn from or to evaluate on: reads a feature file, or computes the features of an image or a folder of
// images (kept in the cache), which have to be labelled. Throws Error{kUsage} for a list without a folder of images,
// and what read_features, list_images, open_encoder and extract_set throw.
FeatureSet load_set(const std::filesystem::path& path, const LoadOptions& options);

// Features to predict: a single path that is neither a folder nor named like an image is a feature file; all else is
// load_prediction_images. `model_name` stands for the model in messages. Throws as load_set and check_features do.
FeatureSet load_prediction_set(std::span<const std::string> paths, const Model& model, const std::string& model_name,
                               const LoadOptions& options);
// Images, boxes in images and folders of images, encoded as those that the model was trained on. Labels of a single
// folder are kept; those of several may disagree and are not.
FeatureSet load_prediction_images(std::span<const std::string> paths, const Model& model, const std::string& model_name,
                                  const LoadOptions& options);
// Labelled features to score a model on: a feature file or a folder of images. Missing labels, labels of which the
// model knows none, and nothing but training examples are errors before any image is encoded (KnownLabels::check).
FeatureSet load_scoring_set(const std::string& path, const Model& model, const std::string& model_name,
                            const LoadOptions& options);
// One image from the bytes of its file; its path is "-" and `source` names it in messages. The cache is not used.
FeatureSet load_prediction_image(std::span<const std::byte> file, const std::string& source, const Model& model,
                                 const std::string& model_name, const LoadOptions& options);

// The features of a list of images; its warnings and the images left out go to options.note.
FeatureSet encode_images(const ImageList& list, const std::string& source, const Encoder& encoder,
                         const LoadOptions& options);

// Tells of the images that were left out, the first few by name.
void note_broken_images(const ExtractReport& report, const NoteCallback& note);

// Throws Error{kInput} when the features have another dimension than those that the model (named model_name) was
// trained on, or come from another backbone or preprocessing as far as both records say, or, unless `any_precision`,
// from the same backbone in another precision.
void check_features(const FeatureSet& set, const Model& model, const std::string& model_name,
                    bool any_precision = false);

}  // namespace annulus
