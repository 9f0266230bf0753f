// Reads feature files and encodes images.
#include "cli/load_data.h"

#include "annulus/base/error.h"
#include "annulus/store/feature_file.h"
#include "annulus/store/image_folder.h"
#include "cli/launch.h"

namespace annulus::cli {

void add_labels(CLI::App& command, DataOptions& options) {
  command
      .add_option("--labels", options.labels, "Labels of a feature file that has none: .npy, or text with one a line")
      ->type_name("FILE");
}

void add_list(CLI::App& command, std::string& list) {
  command.add_option("--list", list, "k-shot list: take only the images it names, in its order")
      ->type_name("FILE")
      ->group("Images");
}

void add_base(CLI::App& command, std::string& path) {
  command
      .add_option("--base", path,
                  "Feature file or folder of images of other classes, for the methods that need base classes")
      ->type_name("FILE");
}

std::optional<BaseClasses> load_base(const std::string& path, const EncoderOptions& encoder, int threads,
                                     ProgressBar& bar) {
  if (path.empty()) return std::nullopt;
  return std::make_optional<BaseClasses>(load_data({path, {}, encoder}, threads, bar));
}

FeatureSet encode_images(const ImageList& list, const std::string& source, const Encoder& encoder,
                         const EncoderOptions& options, int threads, ProgressBar& bar) {
  for (const std::string& warning : list.warnings) bar.note(warning);
  ExtractReport report;
  ExtractOptions extracting = extract_options(options, encoder, threads);
  extracting.first_share = first_share();
  FeatureSet set = extract_set(list, source, encoder.backbone, encoder.recipe, extracting, report, bar.callback());
  note_broken_images(report, bar);
  return set;
}

FeatureSet load_data(const DataOptions& options, int threads, ProgressBar& bar) {
  annulus::report(bar.callback(), {"read " + options.path, 0, 0, {}});
  if (!holds_images(options.path)) {
    if (!options.list.empty()) {
      fail(ErrorKind::kUsage, "--list picks from a folder of images, found {}, which is none", options.path);
    }
    return read_features(options.path, {options.labels});
  }
  ImageListOptions list_options;
  list_options.for_training = true;
  list_options.list_file = options.list;
  const ImageList list = list_images(options.path, list_options);
  return encode_images(list, options.path, open_encoder(options.encoder, bar.callback()), options.encoder, threads,
                       bar);
}

}  // namespace annulus::cli
