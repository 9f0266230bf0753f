// Finds, downloads and opens backbones.
#include "annulus/pipeline/encoder.h"

#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/backbones/backbone_store.h"

namespace annulus {
namespace {

// The name under which the model's backbone can be had.
std::string backbone_of_record(const Model& model, const std::string& model_file) {
  const auto found = model.provenance.find("backbone");
  if (found == model.provenance.end() || found->second.empty()) {
    fail_field(ErrorKind::kUsage, "backbone",
               "expected {} to be given: {} does not say which network its features came from", model_file);
  }
  const std::string& name = found->second;
  if (find_backbone(name) == nullptr) {
    fail_field(ErrorKind::kUsage, "backbone", "expected {} to name a file: {} was trained with the network {}, a file",
               model_file, name);
  }
  return name;
}

}  // namespace

Encoder open_encoder(const EncoderOptions& options, const ProgressCallback& progress, std::size_t images) {
  const bool named = !options.backbone.empty() && options.backbone != kAutoBackbone;
  const ResolvedBackbone found = resolve_backbone(
      named ? options.backbone : choose_backbone({images, 0, options.ask, options.note}), progress, options.note);
  Backbone backbone(found.file);
  const PreprocessRecipe recipe = choose_recipe(backbone, options.preprocess);
  return {found.name, std::move(backbone), recipe};
}

Encoder open_encoder_of(const Model& model, const std::string& model_file, EncoderOptions options,
                        const ProgressCallback& progress) {
  if (options.backbone.empty() || options.backbone == kAutoBackbone) {
    options.backbone = backbone_of_record(model, model_file);
  }
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
