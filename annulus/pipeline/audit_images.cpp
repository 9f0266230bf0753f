// Matches the examples of a set with the properties of their image files.
#include "annulus/pipeline/audit_images.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/encode.h"
#include "annulus/store/images/image_inspection.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace annulus {
namespace {

// The examples of the set are the images of the list, in its order, without unusable ones.
void pair_facts(std::vector<ImageFacts> facts, const FeatureSet& set, AuditOptions& audit) {
  for (ImageFacts& image : facts) {
    const std::size_t next = audit.images.size();
    if (next < set.rows() && set.paths()[next] == image.path) {
      audit.images.push_back(std::move(image));
    } else {
      if (image.error.empty()) image.error = image.path + ": its features cannot be used";
      audit.corrupt.push_back(std::move(image));
    }
  }
}

}  // namespace

AuditImages load_audit_images(const std::string& folder, const ImageListOptions& list_options,
                              const EncoderOptions& encoder_options, AuditOptions& audit,
                              const ProgressCallback& progress) {
  ImageList list = list_images(folder, list_options);
  if (list.labels.empty()) {
    fail(ErrorKind::kInput,
         "{}: expected labelled images (a folder a class, or metadata.csv with file_name and label), found {} without",
         folder, list.paths.size());
  }
  const Encoder encoder = open_encoder(encoder_options, progress, list.paths);
  AuditImages images;
  images.set = encode_list(list, folder, encoder, extract_options(encoder_options, encoder, audit.threads),
                           images.extraction, progress);
  const PreprocessRecipe& recipe = encoder.parts.front().recipe;
  pair_facts(inspect_images(list.paths, decode_options(recipe), audit.threads, progress), images.set, audit);
  // A class may lack images in one part of a split only.
  for (const std::string& name : list.empty_classes) {
    const bool known = std::find(list.class_names.begin(), list.class_names.end(), name) != list.class_names.end();
    const auto& found = audit.empty_classes;
    if (!known && std::find(found.begin(), found.end(), name) == found.end()) audit.empty_classes.push_back(name);
  }
  // The shorter side below which an image is enlarged before the backbone sees it.
  audit.smallest_side = std::min(recipe.output_width(), recipe.output_height());
  images.warnings = std::move(list.warnings);
  return images;
}

}  // namespace annulus
