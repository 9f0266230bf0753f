// Images to features: reads, decodes, preprocesses and encodes every image of a list, and never the same one twice.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/store/formats/block_source.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/task/feature_set.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/preprocess/photo_view.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

struct ExtractOptions {
  FeatureType type = FeatureType::kFloat16;  // of the feature file; the cache keeps float32
  bool strict = false;                       // a broken or missing image is an error instead of being left out
  std::filesystem::path cache;               // as open_feature_cache takes it
  int threads = 0;                           // 0: all processors
  std::string backbone_name;                 // for the record; empty: the model file's name
  // Where in the list to begin, from 0 to less than 1, so that processes that share the list start apart.
  double first_fraction = 0.0;
  PhotoView view{};  // what is encoded of each image; the cache keeps each view beside the others
  // For encode_list: a row for every view of a training example, in place of their mean.
  bool view_examples = false;
};

struct ExtractReport {
  std::size_t written = 0;           // rows of the feature file: images that could be used
  std::size_t computed = 0;          // images the backbone ran on
  std::size_t cached = 0;            // images whose features were there already
  std::size_t broken = 0;            // images left out
  std::vector<std::string> reasons;  // a sentence for each of the first 1000 broken images, in the order of the list
  std::string cache_warning;         // why features are not kept for the next time; empty: they are
  double seconds = 0;                // reading, decoding and encoding, without writing the file
};

// Writes the features of every readable image, in the order of the list, with labels, paths and a record of where they
// come from, to `output` (.safetensors or .npz), which appears only when it is complete. Finished images are kept in
// the cache at once: whatever ends the process, the next call goes on from there and writes the same bytes. Processes
// that extract the same images into the same cache at a time share them out. Each thread takes an image from the file
// to its features, so reading and decoding overlap with encoding, and memory does not grow with the number of images
// beyond the list itself and 100 bytes each. Throws Error{kInput} when no image could be used.
ExtractReport extract(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& recipe,
                      const ExtractOptions& options, const std::filesystem::path& output,
                      const ProgressCallback& progress = {});

// The same without a feature file, for work that goes on at once: float32 rows, mapped from the cache, so that they are
// written to disk once and read from there. `source` names the set in messages.
FeatureSet extract_set(const ImageList& list, const std::string& source, const Backbone& backbone,
                       const PreprocessRecipe& recipe, const ExtractOptions& options, ExtractReport& result,
                       const ProgressCallback& progress = {});

// The same without collecting the features, for a process that helps another one: they are in the cache.
ExtractReport extract_to_cache(const ImageList& list, const Backbone& backbone, const PreprocessRecipe& recipe,
                               const ExtractOptions& options, const ProgressCallback& progress = {});

// Names everything that features depend on besides the image: the maker of a FeatureCache.
std::string feature_maker(const Backbone& backbone, const PreprocessRecipe& recipe);

}  // namespace annulus
