// Adds the options of images and tells of broken ones.
#include "cli/encoder.h"

#include <fmt/format.h>

#include <algorithm>

namespace annulus::cli {

void add_encoder_options(CLI::App& command, EncoderOptions& options, const std::string& default_backbone) {
  constexpr const char* kGroup = "Images";
  command
      .add_option(
          "--backbone", options.backbone,
          "Network that encodes images: a name of annulus backbones, or an ONNX file; default: " + default_backbone)
      ->type_name("NAME|FILE")
      ->group(kGroup);
  command
      .add_option("--preprocess", options.preprocess,
                  "How images are prepared: a preset (imagenet, clip, ...) or a recipe; default: what the network asks "
                  "for")
      ->type_name("RECIPE")
      ->group(kGroup);
  command.add_option("--cache", options.cache, "Folder of features computed before; default: the user's cache")
      ->type_name("DIR")
      ->group(kGroup);
  command.add_flag("--strict", options.strict, "Stop at an image that cannot be read instead of leaving it out")
      ->group(kGroup);
}

void note_broken_images(const ExtractReport& report, ProgressBar& bar) {
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < std::min(kShown, report.reasons.size()); ++i) {
    bar.note(fmt::format("left out {}", report.reasons[i]));
  }
  if (report.broken > kShown) bar.note(fmt::format("left out {} images in all", report.broken));
}

}  // namespace annulus::cli
