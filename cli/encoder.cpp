// Opens backbones and tells of broken images.
#include "cli/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/backbone_registry.h"

namespace annulus::cli {
namespace {

// The name under which the model's backbone can be had.
std::string backbone_of_record(const Model& model, const std::string& model_file) {
  const auto found = model.provenance.find("backbone");
  if (found == model.provenance.end() || found->second.empty()) {
    fail(ErrorKind::kUsage, "{} does not say which backbone its features came from: name it with --backbone",
         model_file);
  }
  const std::string& name = found->second;
  const auto known = default_backbones();
  if (std::none_of(known.begin(), known.end(), [&](const BackboneEntry& entry) { return name == entry.name; })) {
    fail(ErrorKind::kUsage, "{} was trained with the backbone {}, which is a file: name that file with --backbone",
         model_file, name);
  }
  return name;
}

}  // namespace

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

Encoder open_encoder(const EncoderOptions& options, const ProgressCallback& progress) {
  const ResolvedBackbone found =
      resolve_backbone(options.backbone.empty() ? kDefaultBackbone : options.backbone, progress);
  Backbone backbone(found.file);
  const PreprocessRecipe recipe = choose_recipe(backbone, options.preprocess);
  return {found.name, std::move(backbone), recipe};
}

Encoder open_encoder_of(const Model& model, const std::string& model_file, EncoderOptions options,
                        const ProgressCallback& progress) {
  if (options.backbone.empty()) options.backbone = backbone_of_record(model, model_file);
  const auto preprocessing = model.provenance.find("preprocessing");
  if (options.preprocess.empty() && preprocessing != model.provenance.end()) {
    options.preprocess = preprocessing->second;
  }
  Encoder encoder = open_encoder(options, progress);
  check_provenance(model.provenance, model_file, encoder.backbone, encoder.recipe);
  return encoder;
}

ExtractOptions extract_options(const EncoderOptions& options, const Encoder& encoder, int threads) {
  ExtractOptions result;
  result.strict = options.strict;
  result.cache = options.cache;
  result.threads = threads;
  result.backbone_name = encoder.name;
  result.type = FeatureType::kFloat32;
  return result;
}

void note_broken_images(const ExtractReport& report, ProgressBar& bar) {
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < std::min(kShown, report.reasons.size()); ++i) {
    bar.note(fmt::format("left out {}", report.reasons[i]));
  }
  if (report.broken > kShown) bar.note(fmt::format("left out {} images in all", report.broken));
}

}  // namespace annulus::cli
