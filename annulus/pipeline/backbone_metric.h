// Metrics of backbones: where they are kept, and which one belongs to features.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "annulus/learn/method/recipe.h"
#include "annulus/store/models/metric_file.h"

namespace annulus {

// Where the metric of a network is kept, beside the networks of the cache. Throws Error{kInput} for what is no SHA-256.
std::filesystem::path kept_metric_file(const std::string& backbone_sha256);

// The metric that is kept for the network of these features, if there is one for their dimension, output and
// preprocessing. Throws as read_metric does for a file that is damaged.
std::optional<BackboneMetric> kept_metric(const std::map<std::string, std::string>& provenance, std::size_t dimension);

// Puts a metric into a recipe and into the method "default"; unless `always`, into the recipe only where it learns a
// metric.
void set_metric_prior(MetricPrior prior, bool always, Recipe& recipe);

// What RecipeOptions::metric needs from outside: puts a backbone's metric into a recipe that make_recipe made from the
// same choice. Absent: the kept metric, if there is one, where the recipe learns a metric, and into the method
// "default". "none" and "data": nothing. "backbone": the kept metric; throws Error{kInput} where there is none. Else a
// metric file; throws Error{kInput} for one of another dimension or network.
void add_metric_prior(const std::optional<std::string>& choice, const std::map<std::string, std::string>& provenance,
                      std::size_t dimension, Recipe& recipe);

}  // namespace annulus
