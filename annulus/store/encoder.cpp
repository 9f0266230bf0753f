// Finds, downloads and opens backbones.
#include "annulus/store/encoder.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/backbone_registry.h"

namespace annulus {
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

}  // namespace annulus
