// Adds the knobs to a verb.
#include "cli/recipe_options.h"

#include <fmt/ranges.h>

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

}  // namespace annulus::cli
