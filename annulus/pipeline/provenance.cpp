// Chooses recipes; makes and compares records.
#include "annulus/pipeline/provenance.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/vision/backbone/image_feature.h"

namespace annulus {
namespace {

constexpr std::size_t kChecksumDigits = 12;  // of a checksum

std::string value_in(const Provenance& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() ? std::string() : found->second;
}

// A value of a record as messages show it: a backbone by its name and the first digits of its checksum.
std::string described(const Provenance& record, std::string_view key, const std::string& value) {
  if (key != "backbone_sha256") return fmt::format("\"{}\"", value);
  return fmt::format("{} (sha256 {})", value_in(record, "backbone"), value.substr(0, kChecksumDigits));
}

}  // namespace

PreprocessRecipe choose_recipe(const Backbone& backbone, const std::string& chosen) {
  const std::string text = chosen.empty() ? backbone.preprocessing() : chosen;
  if (text.empty()) {
    fail(ErrorKind::kUsage, "{} does not say how its images are prepared: choose one of {}", backbone.file().string(),
         fmt::join(preprocess_preset_names(), ", "));
  }
  PreprocessRecipe recipe = recipe_from_text(text);
  check_recipe(recipe);
  const bool height_fits = backbone.height() == 0 || backbone.height() == recipe.output_height();
  const bool width_fits = backbone.width() == 0 || backbone.width() == recipe.output_width();
  if (!height_fits || !width_fits) {
    fail(ErrorKind::kUsage,
         "{} takes images of {} x {}, and the preprocessing \"{}\" makes {} x {}: add crop={}x{} to it",
         backbone.file().string(), backbone.width(), backbone.height(), text, recipe.output_width(),
         recipe.output_height(), backbone.width(), backbone.height());
  }
  return recipe;
}

Provenance feature_provenance(const Backbone& backbone, const PreprocessRecipe& recipe,
                              const std::string& backbone_name) {
  Provenance record = {{"backbone", backbone_name.empty() ? backbone.file().filename().string() : backbone_name},
                       {"backbone_sha256", backbone.sha256()},
                       {"backbone_output", backbone.output_rule()},
                       {"preprocessing", to_text(planar_recipe(recipe))},
                       {"engine", backbone.engine()},
                       {"annulus_version", kVersion}};
  for (const char* key : {"precision", "float32_sha256", "quantization"}) {
    std::string value = backbone.metadata(std::string("annulus.") + key);
    if (!value.empty()) record[key] = std::move(value);
  }
  return record;
}

std::string precision_of(const Provenance& record) {
  const std::string precision = value_in(record, "precision");
  return precision.empty() ? "float32" : precision;
}

Provenance without_precision(Provenance record) {
  const std::string network = value_in(record, "float32_sha256");
  if (!network.empty()) record["backbone_sha256"] = network;
  for (const char* key : {"precision", "float32_sha256", "quantization"}) record.erase(key);
  return record;
}

void check_same_precision(const Provenance& model, const std::string& model_source, const Provenance& features,
                          const std::string& source) {
  const std::string checksum = value_in(without_precision(model), "backbone_sha256");
  const bool same_network = !checksum.empty() && checksum == value_in(without_precision(features), "backbone_sha256");
  const std::string expected = precision_of(model);
  const std::string found = precision_of(features);
  if (!same_network || expected == found) return;
  fail_field(ErrorKind::kInput, "precision",
             "{1} was made with photos that {2} encoded in {3}, and {4} in {5}: use the same for both, or say {0} {5} "
             "where the difference does not matter",
             model_source, value_in(model, "backbone"), expected, source, found);
}

void check_same_provenance(const Provenance& model, const std::string& model_source, const Provenance& features,
                           const std::string& source) {
  constexpr std::array kCompared{std::pair{"backbone_sha256", "backbone"},
                                 std::pair{"backbone_output", "backbone output"},
                                 std::pair{"preprocessing", "preprocessing"}};
  check_same_precision(model, model_source, features, source);
  for (const auto& [key, what] : kCompared) {
    const std::string expected = value_in(model, key);
    const std::string found = value_in(features, key);
    if (expected.empty() || found.empty() || expected == found) continue;
    fail(ErrorKind::kInput, "{} was made with the {} {}, and {} with {}: use the same for both", model_source, what,
         described(model, key, expected), source, described(features, key, found));
  }
}

bool check_provenance(const Provenance& record, const std::string& source, const Backbone& backbone,
                      const PreprocessRecipe& recipe) {
  check_same_provenance(record, source, feature_provenance(backbone, recipe), "the features of images");
  return !value_in(record, "backbone_sha256").empty();
}

}  // namespace annulus
