// Lists images without asking for classes.
#include "annulus/pipeline/pool_set.h"

#include "annulus/base/error.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/images/image_folder.h"

namespace annulus {

FeatureSet load_pool(const std::filesystem::path& path, const LoadOptions& options) {
  report(options.progress, {"read " + path.string(), 0, 0, {}});
  if (!holds_images(path)) return read_features(path, {options.labels, options.verify});
  ImageListOptions list_options;
  list_options.list_file = options.list;
  list_options.boxes = options.boxes;
  list_options.frames = options.frames;
  const ImageList list = list_images(path, list_options);
  return encode_images(list, path.string(), open_encoder(options.encoder, options.progress, list.paths), options);
}

void check_same_features(const FeatureSet& set, const FeatureSet& reference) {
  if (set.dimension() != reference.dimension()) {
    fail(ErrorKind::kInput, "{}: expected features of {} dimensions as those of {}, found {}", set.source(),
         reference.dimension(), reference.source(), set.dimension());
  }
  check_same_provenance(reference.provenance(), reference.source(), set.provenance(), set.source());
}

}  // namespace annulus
