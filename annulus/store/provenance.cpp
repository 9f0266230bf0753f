// The record of where features come from: chosen, written and compared.
#include <string>

#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/store/extract.h"

namespace annulus {

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

std::map<std::string, std::string> feature_provenance(const Backbone& backbone, const PreprocessRecipe& recipe,
                                                      const std::string& backbone_name) {
  PreprocessRecipe planar = recipe;
  planar.layout = ChannelLayout::kNchw;  // where channels are in memory changes no feature
  return {{"backbone", backbone_name.empty() ? backbone.file().filename().string() : backbone_name},
          {"backbone_sha256", backbone.sha256()},
          {"backbone_output", backbone.output_rule()},
          {"preprocessing", to_text(planar)},
          {"engine", backbone.engine()},
          {"annulus_version", kVersion}};
}

bool check_provenance(const std::map<std::string, std::string>& record, const std::string& source,
                      const Backbone& backbone, const PreprocessRecipe& recipe) {
  const auto found = feature_provenance(backbone, recipe);
  const auto value = [&](const char* key) {
    const auto entry = record.find(key);
    return entry == record.end() ? std::string() : entry->second;
  };
  if (value("backbone_sha256").empty()) return false;
  if (value("backbone_sha256") != found.at("backbone_sha256")) {
    fail(ErrorKind::kInput,
         "{} was made with the backbone {} (sha256 {}), found {} (sha256 {}): its features would mean nothing", source,
         value("backbone"), value("backbone_sha256").substr(0, 12), backbone.file().string(),
         backbone.sha256().substr(0, 12));
  }
  for (const auto& [key, what] :
       {std::pair{"backbone_output", "output"}, std::pair{"preprocessing", "preprocessing"}}) {
    if (value(key) == found.at(key)) continue;
    fail(ErrorKind::kInput, "{} was made with the {} \"{}\", found \"{}\": use the same for both", source, what,
         value(key), found.at(key));
  }
  return true;
}

}  // namespace annulus
