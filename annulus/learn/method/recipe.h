// Recipes: every number of a fit in one place, and the fits themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/ensemble/ensemble_heads.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/method/metric_space.h"
#include "annulus/learn/method/radius_search.h"
#include "annulus/learn/method/trainer.h"
#include "annulus/learn/method/virtual_examples.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct Recipe {
  std::string name;              // one of recipe_names(), for records and reports; nothing depends on it
  bool virtual_examples = true;  // false: the head is trained on the training examples themselves, as `baseline` says;
                                 // there is no search then, no metric and no ensemble
  bool calibrate = true;         // a fit of a model also learns the temperature and the rejection rule
  HeadKind head = HeadKind::kCosine;
  NoiseShape noise_shape = NoiseShape::kEllipsoidal;
  TransformKind transform = TransformKind::kNone;  // of raw features, before everything else
  MetricOptions metric{};                          // in which the head is trained
  SearchOptions search{};                          // pre-training and probes
  TrainOptions final_training{};                   // IbM2's head at the radius found
  std::size_t least_final_steps = 0;  // IbM2's head takes more epochs than final_training says until it makes this many
  std::size_t least_steps_without_metric = 0;  // the same where there is no metric
  std::size_t most_final_steps = 0;  // IbM2's head takes fewer epochs than final_training says if they make more steps
                                     // than this, which gain nothing; 0: no limit
  EnsembleHeads ensemble{};          // heads in closed form that vote beside IbM2's where there is no metric
  EnsembleHeads metric_ensemble{};   // and where there is one
  TrainOptions baseline{};           // the same head on the training examples, without virtual examples
  std::optional<double> svm_cost;    // C of the method svm, for tables that compare costs; absent: chosen on its rows
  // The metric of the method "default", for protocols, whose recipe may be another; absent: that of recipe "default".
  std::optional<MetricOptions> metric_of_default;
  std::optional<double> epsilon;  // a radius given by the caller skips the search
};

// "paper..." are the paper and its program to the letter, without calibration; "ibm2" is the same method with shared
// noise and safer numbers, "default" that on transformed features and with ensemble heads, "episodes" the paper's
// episodes with shared noise, and "baseline" the head of "default" trained on the training examples themselves.
Recipe recipe_named(std::string_view name);  // throws Error{kUsage} listing the names
std::vector<std::string> recipe_names();

// Sets a number in every stage it concerns.
void set_virtual_count(Recipe& recipe, std::size_t virtual_count);
void set_learning_rate(Recipe& recipe, double learning_rate);  // of the final training and of the baseline
// Of the final training, which then has no other limit, and of the baseline.
void set_epochs(Recipe& recipe, std::size_t epochs);
void set_batch(Recipe& recipe, std::size_t batch);
void set_label_smoothing(Recipe& recipe, double fraction);
void set_noise_sharing(Recipe& recipe, NoiseSharing sharing);
void set_seed(Recipe& recipe, std::uint64_t seed);
void set_task(Recipe& recipe, std::uint32_t task);
void set_noise_bank(Recipe& recipe, NoiseBank* bank);
void set_threads(Recipe& recipe, int threads);
// For fits that several processes share, and for fits that go on after they were ended.
void set_layout(Recipe& recipe, const ParallelLayout* layout);
void set_checkpoint(Recipe& recipe, FitCheckpoint* checkpoint);

// The options that shape a result as text, by name, for reports.
std::map<std::string, std::string> describe(const Recipe& recipe);

struct FitResult {
  Head<float> head;  // of a shared fit, the block of classes that this process holds
  // In its metric, before ensemble heads were added to it; its transform is that of its training. Absent where there is
  // neither.
  std::optional<Head<float>> trained;
  EnsembleHeads ensemble{};            // those that were added
  WithinClassMetric metric{};          // what was learnt of the metric, without the metric itself
  bool metric_prior = false;           // the recipe's prior is part of the metric
  std::size_t epochs = 0;              // of the last training
  double epsilon = 0.0;                // 0 without virtual examples
  std::optional<SearchResult> search;  // absent without virtual examples and when the radius was given
  double training_accuracy = 0.0;      // of the final head on the training examples
  // Of the final head on fresh virtual examples; at radius 0 that on the training examples.
  double virtual_accuracy = 0.0;
  double seconds = 0.0;
};

// Fits a head as the recipe says: the search for the radius and training on virtual examples, or training on the
// examples themselves. rows.features are raw features; they are transformed and normalised here, in place when they are
// given away. rows.weights are above 0; only their ratios count.
FitResult fit_head(const LabelledExamples& rows, const Recipe& recipe, const ProgressCallback& progress = {});
FitResult fit_head(LabelledExamples&& rows, const Recipe& recipe, const ProgressCallback& progress = {});

}  // namespace annulus
