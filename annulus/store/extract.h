// Images to features: reads, decodes, prepares and encodes every image of a list, and never the same one twice.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/store/block_source.h"
#include "annulus/store/image_folder.h"
#include "annulus/task/feature_set.h"
#include "annulus/vision/backbone.h"
#include "annulus/vision/image.h"
#include "annulus/vision/preprocess_recipe.h"

namespace annulus {

struct ExtractOptions {
  FeatureType type = FeatureType::kFloat16;  // of the feature file; the cache keeps float32
  bool strict = false;                       // a broken image ends the work instead of being left out
  std::filesystem::path cache;               // folder of computed features; empty: cache_folder()/features
  int threads = 0;                           // 0: all processors
  std::string backbone_name;                 // for the record; empty: the model file's name
  double first_share = 0.0;  // where in the list to begin, from 0 to less than 1: processes that share it start apart
};

struct ExtractReport {
  std::size_t written = 0;           // rows of the feature file: images that could be used
  std::size_t computed = 0;          // images the backbone ran on
  std::size_t cached = 0;            // images whose features were there already
  std::size_t broken = 0;            // images left out
  std::vector<std::string> reasons;  // a sentence for each of the first 1000 broken images, in the order of the list
  double seconds = 0;                // reading, decoding and encoding, without writing the file
};

// Writes the features of every readable image, in the order of the list, with labels, paths and a record of where they
// come from, to `output` (.safetensors or .npz), which appears only when it is complete. Finished images are kept in
// the cache at once: whatever ends the process, the next call goes on from there and writes the same bytes. Processes
// that extract the same images into the same cache at a time share them out. Each thread
// takes an image from the file to its features, so reading and decoding overlap with encoding, and memory does not grow
// with the number of images beyond the list itself and 100 bytes each. Throws Error{kInput} when no image could be
// used.
ExtractReport extract(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& recipe,
                      const ExtractOptions& options, const std::filesystem::path& output,
                      const ProgressCallback& progress = {});

// The same without a feature file, for work that goes on at once: rows of options.type in a nameless file of the cache.
// `source` names the set in messages.
FeatureSet extract_set(const ImageList& list, const std::string& source, const Backbone& backbone,
                       const PreprocessRecipe& recipe, const ExtractOptions& options, ExtractReport& result,
                       const ProgressCallback& progress = {});

// The same without collecting the rows, for a process that helps another one to them: they are in the cache.
ExtractReport extract_to_cache(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& recipe,
                               const ExtractOptions& options, const ProgressCallback& progress = {});

// Features of a few images in memory, for prediction; the cache is not touched.
struct ImageFeatures {
  Matrix<float> rows;                // one for each of `paths`
  std::vector<std::string> paths;    // the readable images, in the order given
  std::vector<std::string> reasons;  // a sentence for each image left out
};
ImageFeatures extract_for_prediction(std::span<const std::string> paths, const Backbone& backbone,
                                     const PreprocessRecipe& recipe, int threads = 0);
// The row of one image from the bytes of its file; `source` names it in errors.
std::vector<float> extract_image(std::span<const std::byte> file, const std::string& source, const Backbone& backbone,
                                 const PreprocessRecipe& recipe, const DecodeLimits& limits = {});

// The recipe to use: `chosen` (a preset or recipe text) when it is given, else the one that the model file names.
// Throws Error{kUsage} when there is neither, and when its image size is not the one that the backbone takes.
PreprocessRecipe choose_recipe(const Backbone& backbone, const std::string& chosen = {});

// What extract() writes into the record of the features: backbone, backbone_sha256, backbone_output, preprocessing,
// engine, annulus_version.
std::map<std::string, std::string> feature_provenance(const Backbone& backbone, const PreprocessRecipe& recipe,
                                                      const std::string& backbone_name = {});

// Names everything that features depend on besides the image: the maker of a FeatureCache.
std::string feature_maker(const Backbone& backbone, const PreprocessRecipe& recipe);

// Throws Error{kInput} with one sentence when the record says that a model (or feature file, named by `source`) was
// made by other weights, another output or another preprocessing. Returns false when the record does not say where its
// features came from.
bool check_provenance(const std::map<std::string, std::string>& record, const std::string& source,
                      const Backbone& backbone, const PreprocessRecipe& recipe);

}  // namespace annulus
