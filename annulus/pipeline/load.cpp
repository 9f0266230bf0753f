// Finds out what a path is, and reads or encodes it.
#include "annulus/pipeline/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/eval/score/known_labels.h"
#include "annulus/pipeline/encode.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/images/video_frames.h"

namespace annulus {
namespace {

std::string record_entry(const std::map<std::string, std::string>& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() ? std::string() : found->second;
}

// Whether a path is to be read as images; a video is one whatever its name where frames are wanted.
bool is_of_images(const std::filesystem::path& path, const LoadOptions& options) {
  return holds_images(path) || (options.frames.wanted() && is_video_file(path));
}

// Whether classes are named by the path of nested folders, so that those of labelled images are to be read like that.
bool has_paths_for_names(const Model& model) {
  return !model.parents.empty() &&
         std::any_of(model.class_names.begin(), model.class_names.end(),
                     [](const std::string& name) { return name.find('/') != std::string::npos; });
}

// Adds the images that a path stands for; the labels of a single folder are kept, those of several may disagree. A file
// among several is not opened yet: when it is missing it is left out like one that is broken.
void add_images(const std::string& path, bool alone, const LoadOptions& options, bool nested, ImageList& list) {
  std::error_code ignored;
  const bool is_listed = std::filesystem::is_directory(path, ignored) || (alone && is_of_images(path, options)) ||
                         !options.boxes.file.empty() || (options.frames.wanted() && is_video_file(path));
  if (!is_listed) {
    list.paths.push_back(path);
    return;
  }
  ImageListOptions list_options;
  list_options.boxes = options.boxes;
  list_options.frames = options.frames;
  list_options.nested = nested;
  ImageList found = list_images(path, list_options);
  if (alone) {
    list = std::move(found);
    return;
  }
  list.paths.insert(list.paths.end(), found.paths.begin(), found.paths.end());
  list.warnings.insert(list.warnings.end(), found.warnings.begin(), found.warnings.end());
}

// Where a feature file is named, what only images have must not be.
void reject_image_options(const LoadOptions& options, const std::filesystem::path& path) {
  if (!options.list.empty()) {
    fail_field(ErrorKind::kUsage, "list", "expected a folder of images for {}, found {}", path.string());
  }
  if (!options.boxes.file.empty()) {
    fail_field(ErrorKind::kUsage, "boxes", "expected images for {}, found {}", path.string());
  }
  if (options.frames.wanted()) {
    fail_field(ErrorKind::kUsage, options.frames.scenes ? "scenes" : "every", "expected videos for {}, found {}",
               path.string());
  }
}

}  // namespace

void note_broken_images(const ExtractReport& report, const NoteCallback& note) {
  constexpr std::size_t kShown = 10;
  if (!note) return;
  for (std::size_t i = 0; i < std::min(kShown, report.reasons.size()); ++i) {
    note(fmt::format("left out {}", report.reasons[i]));
  }
  if (!report.cache_warning.empty()) note(report.cache_warning);
  if (report.broken > kShown) note(fmt::format("left out {} images in all", report.broken));
}

void check_features(const FeatureSet& set, const Model& model, const std::string& model_name, bool any_precision) {
  if (model.head.dimension() != set.dimension()) {
    fail(ErrorKind::kInput, "{}: expected features of {} dimensions as {} was trained on, found {}", set.source(),
         model.head.dimension(), model_name, set.dimension());
  }
  // Predictions for features of another network, or of images prepared otherwise, would be random.
  constexpr std::array kKeys{std::pair{"backbone_sha256", "backbone of checksum"},
                             std::pair{"backbone_output", "backbone output"},
                             std::pair{"preprocessing", "preprocessing"}};
  if (!any_precision) check_same_precision(model.provenance, model_name, set.provenance(), set.source());
  const Provenance of_model = without_precision(model.provenance);
  const Provenance of_set = without_precision(set.provenance());
  for (const auto& [key, what] : kKeys) {
    const std::string expected = record_entry(any_precision ? of_model : model.provenance, key);
    const std::string found = record_entry(any_precision ? of_set : set.provenance(), key);
    if (expected.empty() || found.empty() || expected == found) continue;
    fail(ErrorKind::kInput, "{}: expected features by the {} \"{}\" as {} was trained on, found \"{}\"", set.source(),
         what, expected, model_name, found);
  }
}

FeatureSet encode_images(const ImageList& list, const std::string& source, const Encoder& encoder,
                         const LoadOptions& options) {
  if (options.note) std::for_each(list.warnings.begin(), list.warnings.end(), options.note);
  ExtractReport report;
  ExtractOptions extracting = extract_options(options.encoder, encoder, options.threads);
  extracting.first_fraction = options.first_fraction;
  FeatureSet set = encode_list(list, source, encoder, extracting, report, options.progress);
  note_broken_images(report, options.note);
  return set;
}

FeatureSet load_set(const std::filesystem::path& path, const LoadOptions& options) {
  report(options.progress, {"read " + path.string(), 0, 0, {}});
  if (!is_of_images(path, options)) {
    reject_image_options(options, path);
    return read_features(path, {options.labels, options.verify});
  }
  ImageListOptions list_options;
  list_options.for_training = true;
  list_options.list_file = options.list;
  list_options.boxes = options.boxes;
  list_options.frames = options.frames;
  list_options.nested = options.nested;
  const ImageList list = list_images(path, list_options);
  return encode_images(list, path.string(), open_encoder(options.encoder, options.progress, list.paths), options);
}

FeatureSet load_prediction_images(std::span<const std::string> paths, const Model& model, const std::string& model_name,
                                  const LoadOptions& options) {
  const Encoder encoder = open_encoder_of(model, model_name, options.encoder, options.progress);
  const bool alone = paths.size() == 1;
  ImageList list;
  for (const std::string& path : paths) add_images(path, alone, options, has_paths_for_names(model), list);
  FeatureSet set =
      encode_images(list, alone ? paths.front() : fmt::format("{} inputs", paths.size()), encoder, options);
  check_features(set, model, model_name, !options.encoder.precision.empty());
  return set;
}

FeatureSet load_scoring_set(const std::string& path, const Model& model, const std::string& model_name,
                            const LoadOptions& options) {
  if (!is_of_images(path, options)) {
    reject_image_options(options, path);
    FeatureSet set = read_features(path, {options.labels, options.verify});
    KnownLabels(set, model.class_names).check(path);
    check_features(set, model, model_name, !options.encoder.precision.empty());
    return set;
  }
  if (!options.labels.empty()) {
    fail_field(ErrorKind::kUsage, "labels", "expected a feature file for {}, found images in {}", path);
  }
  ImageListOptions list_options;
  list_options.list_file = options.list;
  list_options.boxes = options.boxes;
  list_options.frames = options.frames;
  list_options.nested = has_paths_for_names(model);
  const ImageList list = list_images(path, list_options);
  KnownLabels(list.labels, list.class_names, list.is_train, model.class_names).check(path);
  const Encoder encoder = open_encoder_of(model, model_name, options.encoder, options.progress);
  FeatureSet set = encode_images(list, path, encoder, options);
  check_features(set, model, model_name, !options.encoder.precision.empty());
  return set;
}

FeatureSet load_prediction_image(std::span<const std::byte> file, const std::string& source, const Model& model,
                                 const std::string& model_name, const LoadOptions& options) {
  const Encoder encoder = open_encoder_of(model, model_name, options.encoder, options.progress);
  const std::vector<float> row = encode_image(file, source, encoder);
  Matrix<float> features(1, row.size());
  std::copy(row.begin(), row.end(), features.row(0).begin());
  FeatureSetParts parts = parts_of(std::move(features));
  parts.paths = {"-"};
  parts.source = source;
  FeatureSet set(std::move(parts));
  check_features(set, model, model_name, !options.encoder.precision.empty());
  return set;
}

FeatureSet load_prediction_set(std::span<const std::string> paths, const Model& model, const std::string& model_name,
                               const LoadOptions& options) {
  if (paths.size() != 1 || is_of_images(paths.front(), options)) {
    return load_prediction_images(paths, model, model_name, options);
  }
  reject_image_options(options, paths.front());
  FeatureSet set = read_features(paths.front(), {options.labels, options.verify});
  check_features(set, model, model_name, !options.encoder.precision.empty());
  return set;
}

}  // namespace annulus
