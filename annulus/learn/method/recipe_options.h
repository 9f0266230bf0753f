// A recipe by name, and numbers that override its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "annulus/learn/method/recipe.h"

namespace annulus {

struct RecipeOptions {
  std::string recipe = "default";
  // Absent: what the recipe says.
  std::optional<bool> virtual_examples;
  std::optional<std::size_t> virtual_count;
  std::optional<double> epsilon;
  std::optional<double> threshold;
  std::optional<double> learning_rate;
  std::optional<std::size_t> epochs;
  std::optional<std::size_t> batch;
  std::optional<std::string> head;
  std::optional<std::string> transform;
  // "none"; "data": of the training examples alone; else of a backbone as well, which pipeline/backbone_metric.h finds.
  std::optional<std::string> metric;
  std::optional<std::string> noise_shape;
  std::optional<std::string> noise;
  std::optional<std::size_t> group;
  std::optional<bool> antithetic;
  std::optional<double> label_smoothing;
  std::optional<std::size_t> search_epochs;
  std::optional<double> search_learning_rate;
  std::vector<double> search_range;
  std::optional<double> search_tolerance;
  std::optional<bool> expand;
  std::optional<bool> verify_upper;
  std::optional<bool> interpolate;
  std::optional<bool> warm_start;
  std::optional<bool> stop_early;
  std::optional<bool> common_noise;
};

// The recipe named, with the given numbers in place of its own. Throws Error{kUsage} for names and ranges that make no
// sense.
Recipe make_recipe(const RecipeOptions& options, std::uint64_t seed, int threads);

}  // namespace annulus
