// Reads feature files.
#include "cli/load_data.h"

#include "annulus/store/feature_file.h"

namespace annulus::cli {

void add_labels(CLI::App& command, DataOptions& options) {
  command
      .add_option("--labels", options.labels, "Labels of a feature file that has none: .npy, or text with one a line")
      ->type_name("FILE");
}

FeatureSet load_data(const DataOptions& options, const ProgressCallback& progress) {
  report(progress, {"read " + options.path, 0, 0, {}});
  return read_features(options.path, {options.labels});
}

}  // namespace annulus::cli
