// Recipes to records and back. Records come from files, so that every number is checked on the way back.
#include "annulus/learn/model/training_record.h"

#include <algorithm>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr double kMostWeight = 1e6;
constexpr double kLeastRate = 1e-12;
constexpr std::size_t kMostCount = 1U << 20U;

template <class T>
T checked(T value, const char* field, T least, T most) {
  if (!(value >= least && value <= most)) {
    fail(ErrorKind::kInput, "expected {} in the training record of a model to be a number from {} to {}, found {}",
         field, least, most, value);
  }
  return value;
}

void record_search(const SearchOptions& search, TrainingRecord::Search& record) {
  record.threshold = search.threshold;
  record.lowest = search.lowest;
  record.highest = search.highest;
  record.tolerance = search.tolerance;
  record.epochs = search.probe.epochs;
  record.least_steps = search.least_steps;
  record.learning_rate = search.probe.learning_rate;
  record.expand = search.expand;
  record.verify_upper = search.verify_upper;
  record.interpolate = search.interpolate;
  record.warm_start = search.warm_start;
  record.common_noise = search.common_noise;
  record.stop_early = search.stop_early;
}

EnsembleHeads ensemble_of(const TrainingRecord& record) {
  EnsembleHeads ensemble;
  if (record.ensemble_ridge_weight) {
    ensemble.ridge_weight = checked(*record.ensemble_ridge_weight, "ensemble_ridge_weight", 0.0, kMostWeight);
  }
  if (record.ensemble_prototype_weight) {
    ensemble.prototype_weight =
        checked(*record.ensemble_prototype_weight, "ensemble_prototype_weight", 0.0, kMostWeight);
  }
  if (record.ensemble_ridge_penalty) {
    ensemble.ridge_penalty = checked(*record.ensemble_ridge_penalty, "ensemble_ridge_penalty", 1e-6, kMostWeight);
  }
  if (record.ensemble_prototype_shots) {
    ensemble.prototype_shots = checked(*record.ensemble_prototype_shots, "ensemble_prototype_shots", 0.0, kMostWeight);
  }
  return ensemble;
}

}  // namespace

TrainingRecord record_of(const Recipe& recipe) {
  const TrainOptions& last = recipe.final_training;
  TrainingRecord record;
  record.recipe = recipe.name;
  record.virtual_examples = recipe.virtual_examples;
  record.head = recipe.head;
  record.transform = recipe.transform;
  record.noise_shape = recipe.noise_shape;
  record.noise = last.sharing;
  record.antithetic = last.antithetic;
  record.virtual_count = last.virtual_count;
  record.learning_rate = last.learning_rate;
  record.baseline_learning_rate = recipe.baseline.learning_rate;
  record.epochs = recipe.virtual_examples ? last.epochs : recipe.baseline.epochs;
  record.least_final_steps = recipe.least_final_steps;
  record.most_final_steps = recipe.most_final_steps;
  record.from_prototypes = recipe.virtual_examples && last.from_prototypes;
  record.batch = last.batch;
  record.label_smoothing = last.label_smoothing;
  record.seed = last.seed;
  if (!recipe.virtual_examples) return record;
  record.epsilon_given = recipe.epsilon;
  if (!recipe.epsilon) record_search(recipe.search, record.search);
  return record;
}

void record_fit(const FitResult& fit, TrainingRecord& record) {
  record.epochs = fit.epochs;
  record.training_accuracy = fit.training_accuracy;
  record.virtual_accuracy = fit.virtual_accuracy;
  if (fit.search) {
    record.search.target = fit.search->target;
    record.search.upper_accuracy = fit.search->upper_accuracy;
  }
  if (fit.ensemble.any()) {
    record.ensemble_ridge_weight = fit.ensemble.ridge_weight;
    record.ensemble_ridge_penalty = fit.ensemble.ridge_penalty;
    record.ensemble_prototype_weight = fit.ensemble.prototype_weight;
    record.ensemble_prototype_shots = fit.ensemble.prototype_shots;
  }
  if (fit.metric.examples > 0) {
    record.metric_strength = fit.metric.strength;
    record.metric_shrinkage = fit.metric.shrinkage;
    record.metric_examples = fit.metric.examples;
  }
}

Recipe recipe_of_record(const TrainingRecord& record) {
  const auto names = recipe_names();
  const std::string name = record.recipe.value_or("ibm2");
  Recipe recipe = recipe_named(std::find(names.begin(), names.end(), name) == names.end() ? "ibm2" : name);
  if (record.virtual_examples) recipe.virtual_examples = *record.virtual_examples;
  if (record.head) recipe.head = *record.head;
  if (record.noise_shape) recipe.noise_shape = *record.noise_shape;
  if (record.virtual_count) {
    set_virtual_count(recipe, checked<std::size_t>(*record.virtual_count, "virtual", 1, kMostCount));
  }
  if (record.batch) set_batch(recipe, checked<std::size_t>(*record.batch, "batch", 1, kMostCount));
  if (record.label_smoothing) {
    set_label_smoothing(recipe, checked(*record.label_smoothing, "label_smoothing", 0.0, 0.999));
  }
  if (record.learning_rate) {
    recipe.final_training.learning_rate = checked(*record.learning_rate, "learning_rate", kLeastRate, kMostWeight);
  }
  if (record.baseline_learning_rate) {
    recipe.baseline.learning_rate =
        checked(*record.baseline_learning_rate, "baseline_learning_rate", kLeastRate, kMostWeight);
  }
  if (record.seed) set_seed(recipe, *record.seed);
  recipe.ensemble = ensemble_of(record);
  return recipe;
}

}  // namespace annulus
