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
#include "annulus/learn/companions.h"
#include "annulus/learn/head.h"
#include "annulus/learn/margin_search.h"
#include "annulus/learn/trainer.h"
#include "annulus/learn/virtual_examples.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct Recipe {
  std::string name;  // "paper", "paper-resnet50", "paper-episodes", "ibm2", "default", "episodes"
  HeadKind head = HeadKind::kCosine;
  NoiseShape noise_shape = NoiseShape::kEllipsoidal;
  ConditioningKind conditioning = ConditioningKind::kNone;  // of raw features, before everything else
  SearchOptions search{};                                   // pre-training and probes
  TrainOptions final_training{};                            // IbM2's head at the radius found
  std::size_t most_final_steps = 0;  // IbM2's head takes fewer epochs than final_training says if they make more steps
                                     // than this, which gain nothing; 0: no limit
  Companions companions{};           // heads in closed form that vote beside IbM2's
  TrainOptions baseline{};           // the same head on the originals
  std::optional<double> svm_cost;    // C of the method svm, for tables that compare costs; absent: chosen on its rows
  std::optional<double> epsilon;     // a radius given by the caller skips the search
};

// "paper..." are the paper and its program to the letter; "ibm2" is the same method with shared noise and safer
// numbers, "default" that on conditioned features and with companions, and "episodes" the paper's episodes with shared
// noise.
Recipe recipe_named(std::string_view name);  // throws Error{kUsage} listing the names
std::vector<std::string> recipe_names();

// Sets a number in every stage it concerns.
void set_virtual_count(Recipe& recipe, std::size_t virtual_count);
void set_learning_rate(Recipe& recipe, double learning_rate);  // of the final training and of the baseline
// Of the final training, which then has no other limit, and of the baseline.
void set_epochs(Recipe& recipe, std::size_t epochs);
void set_batch(Recipe& recipe, std::size_t batch);
void set_label_smoothing(Recipe& recipe, double share);
void set_noise_sharing(Recipe& recipe, NoiseSharing sharing);
void set_seed(Recipe& recipe, std::uint64_t seed);
void set_task(Recipe& recipe, std::uint32_t task);
void set_noise_bank(Recipe& recipe, NoiseBank* bank);
void set_threads(Recipe& recipe, int threads);
// For fits that several processes share, and for fits that go on after they were ended.
void set_share(Recipe& recipe, const WorkShare* share);
void set_log(Recipe& recipe, TrainingLog* log);

// The options that shaped a result, by name, for training records and reports.
std::map<std::string, std::string> describe(const Recipe& recipe);

struct FitResult {
  Head<float> head;                    // of a shared fit, the block of classes that this process holds
  std::optional<Head<float>> trained;  // before companions were added to it; absent where there are none
  double epsilon = 0.0;                // 0 for the baseline
  std::optional<SearchResult> search;  // absent for the baseline and when the radius was given
  double training_accuracy = 0.0;      // of the final head on the originals
  double virtual_accuracy = 0.0;       // of the final head on fresh virtual examples (the originals for the baseline)
  double seconds = 0.0;
};

// Search, then final training. rows.features are raw features; they are normalised here, in place when they are given
// away. rows.weights are above 0; only their ratios count.
FitResult fit_ibm2(const LabelledRows& rows, const Recipe& recipe, const ProgressCallback& progress = {});
FitResult fit_ibm2(LabelledRows&& rows, const Recipe& recipe, const ProgressCallback& progress = {});
// The head trained on the originals.
FitResult fit_baseline(const LabelledRows& rows, const Recipe& recipe, const ProgressCallback& progress = {});
FitResult fit_baseline(LabelledRows&& rows, const Recipe& recipe, const ProgressCallback& progress = {});

}  // namespace annulus
