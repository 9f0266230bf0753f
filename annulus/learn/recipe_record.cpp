// Records to recipes; they come from files, so that every number is checked.
#include "annulus/learn/recipe_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using Record = std::map<std::string, std::string>;

constexpr double kMostWeight = 1e6;
constexpr std::string_view kAtPenalty = " at penalty ";

std::optional<std::string_view> entry(const Record& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() ? std::nullopt : std::make_optional<std::string_view>(found->second);
}

// A number above `least` (or equal to it) and not above `most`.
template <class T>
T number_from(std::string_view text, const char* key, T least, T most) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || !(value >= least && value <= most)) {
    fail(ErrorKind::kInput, "expected {} in the training record of a model to be a number from {} to {}, found \"{}\"",
         key, least, most, text);
  }
  return value;
}

Companions companions_of(const Record& record) {
  Companions companions;
  const auto ridge = entry(record, "companion_ridge");
  if (!ridge) return companions;
  const std::size_t middle = std::min(ridge->find(kAtPenalty), ridge->size());
  companions.ridge_weight = number_from(ridge->substr(0, middle), "companion_ridge", 1e-6, kMostWeight);
  const std::string_view penalty = ridge->substr(std::min(middle + kAtPenalty.size(), ridge->size()));
  companions.ridge_penalty = number_from(penalty, "companion_ridge", 1e-6, kMostWeight);
  if (const auto rows = entry(record, "companion_mean_rows")) {
    companions.mean_rows = number_from(*rows, "companion_mean_rows", 0.0, kMostWeight);
  }
  return companions;
}

}  // namespace

Recipe recipe_of_record(const Record& record) {
  const auto names = recipe_names();
  const std::string name(entry(record, "recipe").value_or("ibm2"));
  Recipe recipe = recipe_named(std::find(names.begin(), names.end(), name) == names.end() ? "ibm2" : name);
  constexpr std::size_t kMostCount = 1U << 20U;
  if (const auto text = entry(record, "head")) {
    recipe.head = *text == to_string(HeadKind::kLinear) ? HeadKind::kLinear : HeadKind::kCosine;
  }
  if (const auto text = entry(record, "noise_shape")) {
    recipe.noise_shape = *text == to_string(NoiseShape::kSpherical) ? NoiseShape::kSpherical : NoiseShape::kEllipsoidal;
  }
  if (const auto text = entry(record, "virtual")) {
    set_virtual_count(recipe, number_from<std::size_t>(*text, "virtual", 1, kMostCount));
  }
  if (const auto text = entry(record, "batch")) {
    set_batch(recipe, number_from<std::size_t>(*text, "batch", 1, kMostCount));
  }
  if (const auto text = entry(record, "label_smoothing")) {
    set_label_smoothing(recipe, number_from(*text, "label_smoothing", 0.0, 0.999));
  }
  if (const auto text = entry(record, "learning_rate")) {
    recipe.final_training.learning_rate = number_from(*text, "learning_rate", 1e-12, kMostWeight);
  }
  if (const auto text = entry(record, "baseline_learning_rate")) {
    recipe.baseline.learning_rate = number_from(*text, "baseline_learning_rate", 1e-12, kMostWeight);
  }
  if (const auto text = entry(record, "seed")) {
    set_seed(recipe, number_from<std::uint64_t>(*text, "seed", 0, ~std::uint64_t{0}));
  }
  recipe.companions = companions_of(record);
  return recipe;
}

}  // namespace annulus
