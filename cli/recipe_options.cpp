// Adds the knobs to a verb and applies them to a recipe.
#include "cli/recipe_options.h"

#include <fmt/ranges.h>

#include <cmath>
#include <string_view>

#include "annulus/base/error.h"

namespace annulus::cli {
namespace {

constexpr const char* kGroup = "Method (each overrides the recipe)";

template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& name, std::optional<T>& value, const char* type,
                        const std::string& meaning) {
  return command
      .add_option_function<T>(
          name, [&value](const T& given) { value = given; }, meaning)
      ->type_name(type)
      ->take_last()
      ->group(kGroup);
}

void add_choice(CLI::App& command, const std::string& name, std::optional<std::string>& value,
                const std::vector<std::string>& choices, const std::string& meaning) {
  add_number<std::string>(command, name, value, "NAME", meaning)->check(CLI::IsMember(choices));
}

void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value, const std::string& meaning) {
  command
      .add_flag_function(
          fmt::format("--{0},!--no-{0}", name), [&value](std::int64_t given) { value = given > 0; }, meaning)
      ->take_last()
      ->group(kGroup);
}

void check_number(const char* name, const std::optional<double>& value, double least, double most) {
  if (value && !(*value >= least && *value <= most)) {
    fail(ErrorKind::kUsage, "{} expects a number from {} to {}, found {}", name, least, most, *value);
  }
}

void check_count(const char* name, const std::optional<std::size_t>& value) {
  if (value && *value == 0) fail(ErrorKind::kUsage, "{} expects a number of 1 or more, found 0", name);
}

constexpr double kLargest = 1e6;  // no radius, rate or share comes near it

void check(const RecipeOptions& options) {
  check_count("--virtual", options.virtual_count);
  check_count("--epochs", options.epochs);
  check_count("--batch", options.batch);
  check_count("--search-epochs", options.search_epochs);
  check_number("--epsilon", options.epsilon, 0.0, kLargest);
  check_number("--threshold", options.threshold, 0.0, 1.0);
  check_number("--lr", options.learning_rate, 0.0, kLargest);
  check_number("--search-lr", options.search_learning_rate, 0.0, kLargest);
  check_number("--label-smoothing", options.label_smoothing, 0.0, 1.0);
  check_number("--search-tolerance", options.search_tolerance, 1e-6, kLargest);
  if (options.search_range.empty()) return;
  const double low = options.search_range.front();
  const double high = options.search_range.back();
  if (options.search_range.size() != 2 || !(low >= 0.0 && low < high && high <= kLargest)) {
    fail(ErrorKind::kUsage, "--search-range expects LO,HI with 0 <= LO < HI, found {}",
         fmt::join(options.search_range, ","));
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

void add_recipe_options(CLI::App& command, RecipeOptions& options) {
  command.add_option("--recipe", options.recipe, "Where all numbers of the method come from")
      ->type_name("NAME")
      ->check(CLI::IsMember(recipe_names()))
      ->capture_default_str()
      ->group(kGroup);
  add_number(command, "--virtual", options.virtual_count, "R", "Virtual examples of an original in each step");
  add_number(command, "--epsilon", options.epsilon, "E", "Radius of the virtual examples; skips the search");
  add_number(command, "--threshold", options.threshold, "T", "Accuracy on virtual examples that the search asks for");
  add_number(command, "--lr", options.learning_rate, "RATE", "Learning rate for a batch of 256");
  add_number(command, "--epochs", options.epochs, "N", "Passes over the originals");
  add_number(command, "--batch", options.batch, "N", "Originals in a step");
  add_choice(command, "--head", options.head, {"cosine", "linear"}, "Kind of head");
  add_choice(
      command, "--condition", options.conditioning, {"none", "centre", "auto"},
      "What is done to features first: nothing, their mean subtracted, or, if none is negative, raised to a power");
  add_choice(command, "--noise-shape", options.noise_shape, {"ellipsoidal", "spherical"},
             "Noise scaled by the spread of each dimension, or the same in all");
  add_choice(command, "--noise", options.noise, {"independent", "shared", "grouped"},
             "Which originals of a step share noise rows");
  add_number(command, "--group", options.group, "N", "Originals in a group with --noise grouped; 0: chosen by cost");
  add_switch(command, "antithetic", options.antithetic, "Draw noise rows in pairs of opposite sign");
  add_number(command, "--label-smoothing", options.label_smoothing, "SHARE", "Share of the target spread evenly");
  add_number(command, "--search-epochs", options.search_epochs, "N", "Epochs of a probe of the search");
  add_number(command, "--search-lr", options.search_learning_rate, "RATE", "Learning rate within the search");
  command.add_option("--search-range", options.search_range, "Range of radii that is bisected")
      ->delimiter(',')
      ->type_name("LO,HI")
      ->group(kGroup);
  add_number(command, "--search-tolerance", options.search_tolerance, "WIDTH", "Width at which the search ends");
  add_switch(command, "expand", options.expand, "Double the upper end of the range while it still passes");
  add_switch(command, "verify-upper", options.verify_upper, "Probe the upper bound again before the search ends");
  add_switch(command, "interpolate", options.interpolate,
             "Place probes by the accuracies at the ends of the range, not in its middle");
  add_switch(command, "warm-start", options.warm_start,
             "Let the first probe go on from the head trained on the originals");
  add_switch(command, "stop-early", options.stop_early,
             "End the training on the originals once its accuracy is above the threshold");
  add_switch(command, "common-noise", options.common_noise, "Let every probe see the same random numbers");
}

Recipe make_recipe(const RecipeOptions& options, std::uint64_t seed, int threads) {
  check(options);
  Recipe recipe = recipe_named(options.recipe);
  if (options.virtual_count) set_virtual_count(recipe, *options.virtual_count);
  if (options.epsilon) recipe.epsilon = *options.epsilon;
  if (options.learning_rate) set_learning_rate(recipe, *options.learning_rate);
  if (options.epochs) set_epochs(recipe, *options.epochs);
  if (options.batch) set_batch(recipe, *options.batch);
  if (options.label_smoothing) set_label_smoothing(recipe, *options.label_smoothing);
  if (options.head) recipe.head = head_kind_from(*options.head);
  if (options.conditioning) recipe.conditioning = conditioning_kind_from(*options.conditioning);
  if (options.noise_shape) recipe.noise_shape = noise_shape_from(*options.noise_shape);
  if (options.noise) set_noise_sharing(recipe, noise_sharing_from(*options.noise));
  if (options.group) in_every_stage(recipe, [&](TrainOptions& stage) { stage.group = *options.group; });
  if (options.antithetic) in_every_stage(recipe, [&](TrainOptions& stage) { stage.antithetic = *options.antithetic; });
  apply_search(options, recipe.search);
  set_seed(recipe, seed);
  set_threads(recipe, threads);
  return recipe;
}

}  // namespace annulus::cli
