// Adds the options of the method to a subcommand.
#include "cli/recipe_options.h"

#include <fmt/ranges.h>

#include <string_view>

#include "annulus/base/error.h"

namespace annulus::cli {
namespace {

constexpr const char* kGroup = "Method options (each overrides the recipe)";

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
  command.add_option("--recipe", options.recipe, "What is trained; the options below override its values")
      ->type_name("NAME")
      ->check(CLI::IsMember(recipe_names()))
      ->capture_default_str()
      ->group(kGroup);
  add_number(command, "--virtual", options.virtual_count, "R", "Virtual examples per training example in each step");
  add_number(command, "--epsilon", options.epsilon, "E", "Radius of the virtual examples; skips the radius search");
  add_number(command, "--threshold", options.threshold, "T", "Accuracy on virtual examples that a radius must reach");
  add_number(command, "--lr", options.learning_rate, "RATE", "Learning rate, for a batch of 256");
  add_number(command, "--epochs", options.epochs, "N", "Passes over the training examples");
  add_number(command, "--batch", options.batch, "N", "Training examples per step");
  add_choice(command, "--head", options.head, {"cosine", "linear"}, "Kind of head");
  add_choice(command, "--transform", options.transform, {"none", "centre", "auto"},
             "Feature transform: none; centre subtracts the mean (a metric does so anyway); auto takes a power "
             "transform if no feature is negative");
  add_number<std::string>(
      command, "--metric", options.metric, "NAME|FILE",
      "Metric that the head is trained in: none; data (learnt from the training examples); backbone (also the one kept "
      "for the network of the features); or a metric file. Default: as the recipe says, with the one kept for the "
      "network where the recipe learns one");
  add_choice(command, "--noise-shape", options.noise_shape, {"ellipsoidal", "spherical"},
             "Noise scaled by the spread of each dimension, or equal in all dimensions");
  add_choice(command, "--noise", options.noise, {"independent", "shared", "grouped"},
             "Which training examples of a step share noise vectors");
  add_number(command, "--group", options.group, "N",
             "Training examples per group with --noise grouped; 0: chosen by cost");
  add_switch(command, "antithetic", options.antithetic, "Draw noise vectors in pairs of opposite sign");
  add_number(command, "--label-smoothing", options.label_smoothing, "FRACTION",
             "Fraction of the target spread evenly over the classes");
  add_number(command, "--search-epochs", options.search_epochs, "N", "Epochs per probe of the radius search");
  add_number(command, "--search-lr", options.search_learning_rate, "RATE", "Learning rate of the radius search");
  command.add_option("--search-range", options.search_range, "Range of radii to search")
      ->delimiter(',')
      ->type_name("LO,HI")
      ->group(kGroup);
  add_number(command, "--search-tolerance", options.search_tolerance, "WIDTH",
             "Width of the range at which the search ends");
  add_switch(command, "expand", options.expand, "Double the upper end of the range while it still passes");
  add_switch(command, "verify-upper", options.verify_upper, "Probe the upper bound again before the search ends");
  add_switch(command, "interpolate", options.interpolate,
             "Place probes by the accuracies at the ends of the range, not in its middle");
  add_switch(command, "warm-start", options.warm_start,
             "Start the first probe from the head trained on the training examples");
  add_switch(command, "stop-early", options.stop_early,
             "End the training on the training examples once its accuracy exceeds the threshold");
  add_switch(command, "common-noise", options.common_noise, "Use the same random numbers in every probe");
}

}  // namespace annulus::cli
