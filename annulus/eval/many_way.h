// The many-way protocol: all classes at once, k labelled rows of each, accuracy on the whole test set, repeated over
// several draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/base_classes.h"
#include "annulus/eval/cells.h"
#include "annulus/eval/comparison.h"
#include "annulus/eval/tally.h"
#include "annulus/learn/recipe.h"
#include "annulus/task/feature_set.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct ManyWayOptions {
  std::vector<std::size_t> shots{1, 5};  // rows a class; 0: every row that may be trained on
  std::size_t subsets = 3;               // draws; draw i uses seed + i, for the rows and for the training
  std::uint64_t seed = 0;
  std::uint64_t training_seed = 0;  // added to a draw's seed for its training: other trainings on the same rows
  std::vector<Split> draws{};       // fixed draws, in place of `shots` and `subsets`; those of the same shots together
  std::vector<std::string> methods{"ncm", "baseline", "ibm2"};
  std::string against{};  // the method that others are compared with; empty: baseline if there, else the first
  Recipe recipe{};        // its seed is set by each draw
  const BaseClasses* base = nullptr;  // for methods that need base classes
  CellStore cells{};                  // finished runs that are kept; its keys hold data_name
  std::string data_name{};            // names the features (and base classes) by their content, for keys
};

struct ManyWayRun {
  std::uint64_t seed = 0;
  double accuracy = 0.0;  // percent
  double epsilon = 0.0;   // 0 for methods without a radius
  double seconds = 0.0;   // of learning, without the prediction of the test rows
  std::size_t support_rows = 0;
  std::size_t query_rows = 0;
  TallyResult tally{};                   // what else the answers came to
  std::optional<SearchResult> search{};  // how the radius was found
};

// A pair of classes that was often confused, over all runs.
struct NamedConfusion {
  Confusion pair{};
  double share = 0.0;               // percent of the true class's test rows, over all runs
  std::string example{};            // path of a mistaken test row; may be empty
  std::string predicted_example{};  // path of a support row of the class it was taken for
};

// Percentages; means are over runs.
struct ManyWayResult {
  std::string method;
  std::size_t shots = 0;
  double accuracy_mean = 0.0;
  double accuracy_std = 0.0;  // of the sample; 0 for a single draw
  std::vector<ManyWayRun> runs{};
  double class_interval = 0.0;  // half the width of the 95 % interval of the mean recall, classes being the sample
  std::optional<double> top5_mean{};
  double macro_mean = 0.0;
  std::optional<double> ece_mean{};
  std::vector<double> recall{};              // of each class; NaN where it has no test row
  std::vector<NamedConfusion> confusions{};  // most frequent first, at most 20
  std::vector<ConfidenceBin> confidence{};   // of all runs together
};

struct ManyWayReport {
  std::vector<ManyWayResult> results;  // by shots, then by method, in the order asked for
  std::size_t ways = 0;
  std::size_t dimension = 0;
  std::vector<std::string> class_names{};
  std::vector<MethodComparison> comparisons{};  // paired by class: its mean recall over the draws
  std::vector<Split> draws{};                   // what was learnt from and asked about
};

// The 64-digit checksum of a draw's rows.
std::string split_checksum(const Split& split);

// Evaluates on one set: is_train says which rows may be drawn, the others are the test rows; without it every row that
// was not drawn is a test row. Throws Error{kUsage} for options that make no sense and Error{kInput} when a class has
// too few rows or no row is left to test on, both before anything is trained.
ManyWayReport evaluate_many_way(const FeatureSet& set, const ManyWayOptions& options,
                                const ProgressCallback& progress = {});

// The same with draws of whole groups (see draw_groups): learn from k groups, be tested on all others.
ManyWayReport evaluate_across_groups(const FeatureSet& set, std::span<const std::int32_t> groups,
                                     const ManyWayOptions& options, const ProgressCallback& progress = {});

// The same with all rows of `train` to draw from and all rows of `test` to test on, classes matched by name.
ManyWayReport evaluate_many_way(const FeatureSet& train, const FeatureSet& test, const ManyWayOptions& options,
                                const ProgressCallback& progress = {});

}  // namespace annulus
