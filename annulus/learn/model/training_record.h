// The training record of a model: how it was fitted, on what, how well, and what was changed since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "annulus/learn/method/recipe.h"

namespace annulus {

// Optional fields are absent where nobody recorded them: a model may come from another program. Accuracies are
// fractions. model_file.h writes and reads it; docs/reference/file-formats.md lists the names that fields have in a
// file.
struct TrainingRecord {
  std::optional<std::string> version;  // of the program that fitted the model
  std::optional<std::string> recipe;   // its name

  // Options of the recipe, as they were after all changes.
  std::optional<bool> virtual_examples;
  std::optional<HeadKind> head;  // of the training; with ensemble heads the model's head is their sum, a linear one
  std::optional<TransformKind> transform;
  std::optional<NoiseShape> noise_shape;
  std::optional<NoiseSharing> noise;
  std::optional<bool> antithetic;
  std::optional<std::size_t> virtual_count;
  std::optional<double> learning_rate;
  std::optional<double> baseline_learning_rate;
  std::optional<std::size_t> epochs;
  std::optional<std::size_t> least_final_steps;
  std::optional<std::size_t> most_final_steps;
  std::optional<bool> from_prototypes;  // the first head, which else is random
  std::optional<std::size_t> batch;
  std::optional<double> label_smoothing;
  std::optional<double> epsilon_given;  // the radius, where it was not searched for
  // Absent without ensemble heads.
  std::optional<double> ensemble_ridge_weight;
  std::optional<double> ensemble_ridge_penalty;
  std::optional<double> ensemble_prototype_shots;
  std::optional<double> ensemble_prototype_weight;
  // The metric of the covariance within classes; absent without one.
  std::optional<double> metric_strength;       // of the sphere that the covariance was shrunk to
  std::optional<double> metric_shrinkage;      // a fraction
  std::optional<std::size_t> metric_examples;  // that it was learnt from

  // The search for the radius; all absent where there was none.
  struct Search {
    std::optional<double> threshold;
    std::optional<double> lowest;
    std::optional<double> highest;
    std::optional<double> tolerance;
    std::optional<std::size_t> epochs;
    std::optional<std::size_t> least_steps;
    std::optional<double> learning_rate;
    std::optional<bool> expand;
    std::optional<bool> verify_upper;
    std::optional<bool> interpolate;
    std::optional<bool> warm_start;
    std::optional<bool> common_noise;
    std::optional<bool> stop_early;
    std::optional<double> target;          // accuracy that was asked for
    std::optional<double> upper_accuracy;  // on the training examples, before the search
    bool operator==(const Search&) const = default;
  };
  Search search;

  std::optional<std::uint64_t> seed;    // of the split and of every random number
  std::optional<std::string> shots;     // examples per class that were drawn, or "all"
  std::optional<std::size_t> examples;  // that the model was fitted to
  std::optional<double> training_accuracy;
  std::optional<double> virtual_accuracy;  // on virtual examples

  // Examples that were held out to calibrate the model; all absent where none were.
  struct HeldOut {
    std::optional<std::size_t> examples;
    std::optional<double> accuracy;
    std::optional<double> calibration_error;
    bool operator==(const HeldOut&) const = default;
  };
  HeldOut held_out;

  // Incremental updates since the fit.
  struct Updates {
    std::size_t classes_added = 0;
    std::size_t classes_removed = 0;
    std::size_t examples_added = 0;    // to classes that were there
    std::size_t examples_removed = 0;  // from classes that stay

    std::size_t all() const { return classes_added + classes_removed + examples_added + examples_removed; }
    bool operator==(const Updates&) const = default;
  };
  Updates updates;

  // Entries that this program gives no meaning, kept as they are.
  std::map<std::string, std::string> notes;

  bool operator==(const TrainingRecord&) const = default;
};

// The record of a fit by the recipe, without results.
TrainingRecord record_of(const Recipe& recipe);

// Adds what a fit found: accuracies, the radius searched for, ensemble heads, the metric.
void record_fit(const FitResult& fit, TrainingRecord& record);

// The recipe that a model of this record is updated by: what is absent is as in the recipe that the record names, or in
// "ibm2" when it names none. Ensemble heads are those of the record, or none. Throws Error{kInput} for a number that no
// recipe has.
Recipe recipe_of_record(const TrainingRecord& record);

}  // namespace annulus
