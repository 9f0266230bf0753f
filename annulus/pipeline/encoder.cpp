// Finds, downloads and opens backbones.
#include "annulus/pipeline/encoder.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "annulus/pipeline/backbones/int8_backbone.h"
#include "annulus/pipeline/provenance.h"

namespace annulus {
namespace {

constexpr std::string_view kBetweenNames = "+";
constexpr std::string_view kBetweenValues = " + ";
constexpr const char* kViewsKey = "views";

std::vector<std::string> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

// The name under which the model's backbone can be had.
std::string backbone_of_record(const Model& model, const std::string& model_file) {
  const auto found = model.provenance.find("backbone");
  if (found == model.provenance.end() || found->second.empty()) {
    fail_field(ErrorKind::kUsage, "backbone",
               "expected {} to be given: {} does not say which network its features came from", model_file);
  }
  const std::string& name = found->second;
  const std::vector<std::string> parts = joined_backbones(name);
  const auto file =
      std::find_if(parts.begin(), parts.end(), [](const auto& part) { return find_backbone(part) == nullptr; });
  if (file != parts.end()) {
    fail_field(ErrorKind::kUsage, "backbone", "expected {} to name {}: {} was trained with the network {}, {}",
               parts.size() == 1 ? "a file" : "files or networks joined by +", model_file, name,
               parts.size() == 1 ? "a file" : "of which " + *file + " is a file");
  }
  return name;
}

// One text for each of `count` backbones.
std::vector<std::string> preprocess_texts(const std::string& text, std::size_t count) {
  std::vector<std::string> texts = split_at(text, kBetweenValues);
  if (texts.size() == 1) texts.resize(count, texts.front());
  if (texts.size() != count) {
    fail_field(ErrorKind::kUsage, "preprocess", "expected {} to be one recipe, or {} joined by \" + \", found {}",
               count, texts.size());
  }
  return texts;
}

// Whether no network is named; a feature may be: "auto:mean".
bool is_auto(const std::string& text) { return text.empty() || network_of(text) == kAutoBackbone; }

PreprocessRecipe recipe_of(const Backbone& backbone, const std::string& preprocess, const EncoderOptions& options) {
  PreprocessRecipe recipe = choose_recipe(backbone, preprocess);
  if (options.srgb) recipe.to_srgb = true;
  if (options.crop_margin) recipe.box_margin = *options.crop_margin;
  check_recipe(recipe);
  return recipe;
}

// An image is decoded once for all networks.
void check_decoded_alike(const Encoder& encoder) {
  const PreprocessRecipe& first = encoder.parts.front().recipe;
  for (const EncoderPart& part : encoder.parts) {
    if (part.recipe.apply_exif == first.apply_exif && part.recipe.to_srgb == first.to_srgb) continue;
    fail_field(ErrorKind::kUsage, "preprocess",
               "expected {} to have the same exif= and profile= for all joined networks, found others for {} and {}",
               encoder.parts.front().name, part.name);
  }
}

std::string precision_of(const Backbone& backbone) { return backbone.metadata("annulus.precision"); }

// The encoder of a model that int8 features were used for.
Encoder open_int8_of(const Model& model, const std::string& model_file, const EncoderOptions& options,
                     const ProgressCallback& progress) {
  const ResolvedBackbone found = resolve_backbone(options.backbone, progress, options.note);
  Backbone backbone(file_of_record(found, model.provenance, options.note));
  const PreprocessRecipe recipe = recipe_of(backbone, options.preprocess, options);
  Encoder encoder;
  encoder.name = found.name;
  encoder.views = options.views.value_or(PhotoViews{});
  encoder.parts.push_back({found.name, std::move(backbone), recipe});
  check_same_provenance(model.provenance, model_file, feature_provenance(encoder), "the features of images");
  return encoder;
}

}  // namespace

std::size_t Encoder::dimension() const {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const EncoderPart& part) { return sum + part.backbone.dimension(); });
}

std::vector<std::string> joined_backbones(const std::string& text) {
  std::error_code ignored;
  if (const BackboneEntry* const entry = find_backbone(text)) return {entry->name};
  if (std::filesystem::is_regular_file(text, ignored)) return {text};
  std::vector<std::string> names = split_joined(text);
  for (std::string& name : names) {
    if (const BackboneEntry* const entry = find_backbone(name)) name = entry->name;
  }
  for (std::size_t i = 0; i < names.size() && names.size() > 1; ++i) {
    const bool again = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
                       names.begin() + static_cast<std::ptrdiff_t>(i);
    if (!names[i].empty() && !again) continue;
    fail_field(ErrorKind::kUsage, "backbone", "expected {} to join different networks by +, found \"{}\"", text);
  }
  return names;
}

std::vector<const BackboneEntry*> known_backbones_of(const Provenance& provenance) {
  const Provenance networks = without_precision(provenance);
  const auto recorded = [&](const char* key) {
    const auto found = networks.find(key);
    return found == networks.end() ? std::string() : found->second;
  };
  const std::vector<std::string> names = split_joined(recorded("backbone"));
  std::vector<std::string> checksums = split_at(recorded("backbone_sha256"), kBetweenValues);
  checksums.resize(names.size());
  std::vector<const BackboneEntry*> entries;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const BackboneEntry* const entry = find_backbone(names[i]);
    if (entry == nullptr || (!entry->onnx_sha256.empty() && checksums[i] != entry->onnx_sha256)) continue;
    entries.push_back(entry);
  }
  return entries;
}

Encoder open_encoder(const EncoderOptions& options, const ProgressCallback& progress,
                     std::span<const std::string> images) {
  const Precision precision = parse_precision(options.precision);
  const std::string& wanted = options.backbone;
  const std::vector<std::string> names =
      is_auto(wanted) ? std::vector{with_feature(choose_backbone({images.size(), 0, options.ask, options.note}),
                                                 std::string(feature_of(wanted)))}
                      : joined_backbones(wanted);
  if (precision == Precision::kInt8 && names.size() > 1) {
    fail_field(ErrorKind::kUsage, "precision", "expected {} to be float32 or auto for joined networks, found int8");
  }
  const std::vector<std::string> recipes = preprocess_texts(options.preprocess, names.size());
  Encoder encoder;
  encoder.views = options.views.value_or(PhotoViews{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ResolvedBackbone found = resolve_backbone(names[i], progress, options.note);
    Backbone backbone(file_for_precision(found, names.size() > 1 ? Precision::kFloat32 : precision, recipes[i], images,
                                         Int8Options{}, progress, options.note));
    if (options.precision == "float32" && precision_of(backbone) == "int8") {
      fail_field(ErrorKind::kUsage, "precision", "expected {} to be int8 for {}, which is an int8 network",
                 found.file.string());
    }
    const PreprocessRecipe recipe = recipe_of(backbone, recipes[i], options);
    encoder.name += (i == 0 ? "" : std::string(kBetweenNames)) + found.name;
    encoder.parts.push_back({found.name, std::move(backbone), recipe});
  }
  check_decoded_alike(encoder);
  return encoder;
}

Encoder open_encoder_of(const Model& model, const std::string& model_file, EncoderOptions options,
                        const ProgressCallback& progress) {
  if (is_auto(options.backbone)) {
    const std::string wanted(feature_of(options.backbone));
    options.backbone = backbone_of_record(model, model_file);
    // Before anything is downloaded: another feature means nothing to the model.
    if (const std::string found = with_feature(options.backbone, wanted); found != options.backbone) {
      fail_field(ErrorKind::kInput, "feature", "expected {} to be that of {}, which was trained with {}, found {}",
                 model_file, options.backbone, found);
    }
  }
  const auto recorded = [&](const char* key) {
    const auto found = model.provenance.find(key);
    return found == model.provenance.end() ? std::string() : found->second;
  };
  if (options.preprocess.empty()) {
    options.preprocess = recorded("preprocessing");
    const std::size_t networks = joined_backbones(options.backbone).size();
    if (const std::size_t recipes = split_at(options.preprocess, kBetweenValues).size();
        recipes > 1 && recipes != networks) {
      fail_field(ErrorKind::kUsage, "backbone", "expected {} to be the {} networks of {}, {}, found {}", recipes,
                 model_file, recorded("backbone"), networks);
    }
  }
  if (const std::string views = recorded(kViewsKey); !options.views && !views.empty()) {
    options.views = views_from_text(views);
  }
  const std::string precision = precision_of(model.provenance);
  const bool asked = parse_precision(options.precision) != Precision::kAuto && !options.precision.empty();
  if (precision == "int8" && (!asked || options.precision == precision)) {
    return open_int8_of(model, model_file, options, progress);
  }
  if (!asked) options.precision.clear();
  Encoder encoder = open_encoder(options, progress);
  if (asked && options.precision != precision) {
    check_same_provenance(without_precision(model.provenance), model_file,
                          without_precision(feature_provenance(encoder)), "the features of images");
  } else {
    check_same_provenance(model.provenance, model_file, feature_provenance(encoder), "the features of images");
  }
  return encoder;
}

ExtractOptions extract_options(const EncoderOptions& options, const Encoder& encoder, int threads) {
  ExtractOptions result;
  result.strict = options.strict;
  result.cache = options.cache;
  result.threads = threads;
  result.backbone_name = encoder.name;
  result.type = FeatureType::kFloat32;
  result.view_examples = options.view_examples;
  return result;
}

Provenance feature_provenance(const Encoder& encoder) {
  Provenance joined;
  for (const EncoderPart& part : encoder.parts) {
    for (const auto& [key, value] : feature_provenance(part.backbone, part.recipe, part.name)) {
      const auto [entry, is_new] = joined.try_emplace(key, value);
      if (is_new || key == "engine" || key == "annulus_version") continue;
      entry->second += (key == "backbone" ? std::string(kBetweenNames) : std::string(kBetweenValues)) + value;
    }
  }
  if (encoder.views.any()) joined[kViewsKey] = to_text(encoder.views);
  return joined;
}

std::string feature_maker(const Encoder& encoder) {
  std::string maker;
  for (const EncoderPart& part : encoder.parts) {
    maker += (maker.empty() ? "" : "\n") + feature_maker(part.backbone, planar_recipe(part.recipe));
  }
  return encoder.views.any() ? maker + "\nviews " + to_text(encoder.views) : maker;
}

}  // namespace annulus
