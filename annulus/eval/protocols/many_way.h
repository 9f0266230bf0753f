// The many-way protocol: all classes at once, k labelled examples of each, accuracy on the whole test set, repeated
// over several splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/metrics/metric_accumulator.h"
#include "annulus/eval/protocols/cached_runs.h"
#include "annulus/eval/protocols/comparison.h"
#include "annulus/learn/baselines/base_classes.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/task/feature_set.h"
#include "annulus/task/few_shot_task.h"
#include "annulus/task/query_balance.h"

namespace annulus {

struct ManyWayRun {
  std::uint64_t seed = 0;
  double accuracy = 0.0;  // percent
  double epsilon = 0.0;   // 0 for methods without a radius
  double seconds = 0.0;   // of training, without the prediction of the test examples; with it where they are one
  std::size_t support_examples = 0;
  std::size_t query_examples = 0;
  MetricResult metrics{};                // the other metrics of the predictions
  std::optional<SearchResult> search{};  // how the radius was found
};

struct ManyWayOptions {
  std::vector<std::size_t> shots{1, 5};  // examples per class; 0: every training example
  std::size_t split_count = 3;           // number of splits; split i uses seed + i, also for its training
  std::uint64_t seed = 0;
  std::uint64_t training_seed = 0;  // added to a split's seed for its training: other trainings on the same rows
  std::vector<Split> splits{};  // fixed splits, in place of `shots` and `split_count`; those of the same shots together
  // The test examples are drawn by this balance, each split by its seed; absent: all are tested, as they are.
  std::optional<QueryBalance> query_balance{};
  std::vector<std::string> methods{"ncm", "baseline", "ibm2"};
  std::string against{};  // the method that others are compared with; empty: baseline if there, else the first
  Recipe recipe{};        // its seed is set by each split
  const BaseClasses* base = nullptr;   // for methods that need base classes
  RunCache<ManyWayRun> cached_runs{};  // finished runs that are kept; its keys hold data_name
  std::string data_name{};             // names the features (and base classes) by their content, for keys
};

// A pair of classes that was often confused, over all runs.
struct NamedConfusion {
  Confusion pair{};
  double fraction = 0.0;            // percent of the true class's test examples, over all runs
  std::string example{};            // path of a misclassified test example; may be empty
  std::string predicted_example{};  // path of a training example of the predicted class; may be empty
};

// Values in percent; means are over runs.
struct ManyWayResult {
  std::string method;
  std::size_t shots = 0;
  double accuracy_mean = 0.0;
  double accuracy_std = 0.0;  // of the sample; 0 for a single split
  std::vector<ManyWayRun> runs{};
  double class_interval = 0.0;  // half width of the 95 % interval of the mean recall, with classes as the sample
  std::optional<double> top5_mean{};
  double macro_mean = 0.0;
  std::optional<double> ece_mean{};
  std::vector<double> recall{};              // per class; NaN for a class without test examples
  std::vector<NamedConfusion> confusions{};  // most frequent first, at most 20
  std::vector<ConfidenceBin> confidence{};   // over all runs
};

struct ManyWayReport {
  std::vector<ManyWayResult> results;  // by shots, then by method, in the order of the options
  std::size_t ways = 0;
  std::size_t dimension = 0;
  std::vector<std::string> class_names{};
  std::vector<MethodComparison> comparisons{};  // paired by class: its mean recall over the splits
  std::vector<Split> splits{};                  // that were evaluated
  std::optional<QueryBalance> query_balance{};  // of the test examples; absent: all of them
};

// A checksum of the examples of a split, 64 hexadecimal digits.
std::string split_checksum(const Split& split);

// Evaluates on one set. is_train marks the examples that may be sampled for training; the others are the test examples.
// Without it, every example that was not sampled is a test example. Throws Error{kUsage} for invalid options and
// Error{kInput} when a class has too few examples or none is left for testing, both before anything is trained.
ManyWayReport evaluate_many_way(const FeatureSet& set, const ManyWayOptions& options,
                                const ProgressCallback& progress = {});

// The same with splits of whole groups (see draw_groups): train on k groups, test on all others.
ManyWayReport evaluate_across_groups(const FeatureSet& set, std::span<const std::int32_t> groups,
                                     const ManyWayOptions& options, const ProgressCallback& progress = {});

// The same with training examples from `train` and all of `test` as test examples; classes are matched by name.
ManyWayReport evaluate_many_way(const FeatureSet& train, const FeatureSet& test, const ManyWayOptions& options,
                                const ProgressCallback& progress = {});

}  // namespace annulus
