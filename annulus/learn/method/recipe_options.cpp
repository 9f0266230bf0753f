// Applies given numbers to a recipe.
#include "annulus/learn/method/recipe_options.h"

#include <fmt/ranges.h>

#include "annulus/base/error.h"

namespace annulus {
namespace {

void check_number(const char* field, const std::optional<double>& value, double least, double most) {
  if (value && !(*value >= least && *value <= most)) {
    fail_field(ErrorKind::kUsage, field, "expected {} to be from {} to {}, found {}", least, most, *value);
  }
}

void check_above_0(const char* field, const std::optional<double>& value, double most) {
  if (value && !(*value > 0.0 && *value <= most)) {
    fail_field(ErrorKind::kUsage, field, "expected {} to be above 0 and at most {}, found {}", most, *value);
  }
}

void check_count(const char* field, const std::optional<std::size_t>& value) {
  if (value && *value == 0) fail_field(ErrorKind::kUsage, field, "expected {} to be 1 or more, found 0");
}

constexpr double kLargest = 1e6;  // no radius, rate or tolerance comes near it

void check(const RecipeOptions& options) {
  check_count("virtual_count", options.virtual_count);
  check_count("epochs", options.epochs);
  check_count("batch", options.batch);
  check_count("search_epochs", options.search_epochs);
  check_number("epsilon", options.epsilon, 0.0, kLargest);
  check_above_0("threshold", options.threshold, 1.0);
  check_above_0("learning_rate", options.learning_rate, kLargest);
  check_above_0("search_learning_rate", options.search_learning_rate, kLargest);
  check_number("label_smoothing", options.label_smoothing, 0.0, 1.0);
  check_number("search_tolerance", options.search_tolerance, 1e-6, kLargest);
  if (options.search_range.empty()) return;
  const double low = options.search_range.front();
  const double high = options.search_range.back();
  if (options.search_range.size() != 2 || !(low >= 0.0 && low < high && high <= kLargest)) {
    fail_field(ErrorKind::kUsage, "search_range", "expected {} to be two radii, 0 <= low < high <= {}, found {}",
               kLargest, fmt::join(options.search_range, ","));
  }
}

template <class Change>
void in_every_stage(Recipe& recipe, Change change) {
  for (TrainOptions* stage :
       {&recipe.search.pretrain, &recipe.search.probe, &recipe.final_training, &recipe.baseline}) {
    change(*stage);
  }
}

void apply_search(const RecipeOptions& options, SearchOptions& search) {
  if (options.threshold) search.threshold = *options.threshold;
  if (options.search_epochs) {
    search.probe.epochs = *options.search_epochs;
    search.least_steps = 0;
  }
  if (options.search_learning_rate) {
    search.pretrain.learning_rate = *options.search_learning_rate;
    search.probe.learning_rate = *options.search_learning_rate;
  }
  if (!options.search_range.empty()) {
    search.lowest = options.search_range.front();
    search.highest = options.search_range.back();
  }
  if (options.search_tolerance) search.tolerance = *options.search_tolerance;
  if (options.expand) search.expand = *options.expand;
  if (options.verify_upper) search.verify_upper = *options.verify_upper;
  if (options.interpolate) search.interpolate = *options.interpolate;
  if (options.warm_start) search.warm_start = *options.warm_start;
  if (options.stop_early) search.stop_early = *options.stop_early;
  if (options.common_noise) search.common_noise = *options.common_noise;
}

}  // namespace

Recipe make_recipe(const RecipeOptions& options, std::uint64_t seed, int threads) {
  check(options);
  Recipe recipe = recipe_named(options.recipe);
  if (options.virtual_examples) recipe.virtual_examples = *options.virtual_examples;
  if (options.virtual_count) set_virtual_count(recipe, *options.virtual_count);
  if (options.epsilon) recipe.epsilon = *options.epsilon;
  if (options.learning_rate) set_learning_rate(recipe, *options.learning_rate);
  if (options.epochs) set_epochs(recipe, *options.epochs);
  if (options.batch) set_batch(recipe, *options.batch);
  if (options.label_smoothing) set_label_smoothing(recipe, *options.label_smoothing);
  if (options.head) recipe.head = head_kind_from(*options.head);
  if (options.transform) recipe.transform = transform_kind_from(*options.transform);
  if (options.metric) {
    recipe.metric = {};
    recipe.metric.within_classes = *options.metric != "none";
    recipe.metric_of_default = recipe.metric;
  }
  if (options.noise_shape) recipe.noise_shape = noise_shape_from(*options.noise_shape);
  if (options.noise) set_noise_sharing(recipe, noise_sharing_from(*options.noise));
  if (options.group) in_every_stage(recipe, [&](TrainOptions& stage) { stage.group = *options.group; });
  if (options.antithetic) in_every_stage(recipe, [&](TrainOptions& stage) { stage.antithetic = *options.antithetic; });
  apply_search(options, recipe.search);
  set_seed(recipe, seed);
  set_threads(recipe, threads);
  return recipe;
}

}  // namespace annulus
