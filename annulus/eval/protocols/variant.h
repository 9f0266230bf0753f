// Variants of a method on the same splits, for the paper's tables and the ablations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/metrics/metrics.h"
#include "annulus/eval/protocols/cached_runs.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Trains with a method and a recipe on split `split` and tests it; the split sets the recipe's seed.
struct SplitSource {
  std::size_t splits = 0;
  std::function<ManyWayRun(std::size_t split, const std::string& method, const Recipe& recipe,
                           const ProgressCallback& progress)>
      run;
};

struct SplitOptions {
  std::uint64_t seed = 0;              // split i uses seed + i
  RunCache<ManyWayRun> cached_runs{};  // finished runs that are kept
  std::string data_name{};             // names the features by their content, for keys; files are named by themselves
};

// Split i trains on all of training[i]; every split is tested on `test`. The sets must outlive the source.
SplitSource splits_of_files(std::span<const FeatureSet> training, const FeatureSet& test, const SplitOptions& options);
// Split i trains on `shots` examples of every class of one set (see evaluate_many_way).
SplitSource splits_of_examples(const FeatureSet& set, std::size_t shots, std::size_t splits,
                               const SplitOptions& options);
// Split i trains on `shots` whole groups (see evaluate_across_groups).
SplitSource splits_of_groups(const FeatureSet& set, std::span<const std::int32_t> groups, std::size_t shots,
                             std::size_t splits, const SplitOptions& options);

struct Variant {
  std::string name;    // for tables
  std::string method;  // one of methods()
  Recipe recipe;
};

struct VariantScore {
  std::vector<ManyWayRun> runs;
  std::vector<double> recall;  // per class, mean over the runs
  Summary accuracy;            // percent, over the runs
  double learning_rate = 0.0;  // 0 for methods that have none
  double epsilon = 0.0;        // mean over the runs
  double seconds = 0.0;        // mean over the runs
};

// Counts runs towards a total that several calls share.
class RunCounter {
 public:
  // `progress` must outlive the counter.
  RunCounter(const ProgressCallback& progress, std::size_t total) : progress_(progress), total_(total) {}

  // The callback of the next run. Throws Error{kCancelled} when the user has asked to stop.
  ProgressCallback next(const std::string& stage);

 private:
  const ProgressCallback& progress_;
  std::size_t total_;
  std::size_t done_ = 0;
};

VariantScore score_variant(const SplitSource& source, const Variant& variant, RunCounter& counter);

// The ten learning rates that the paper chooses from.
const std::vector<double>& paper_rates();
// True for methods that are trained with a learning rate.
bool has_learning_rate(const std::string& method);

struct RateSweep {
  VariantScore standard;             // at the recipe's own rate
  std::vector<VariantScore> scores;  // at each rate
  std::size_t best = 0;  // index in scores: the highest mean accuracy ON THE TEST LABELS, the first of equal ones
};

// Every rate uses the radius that the search found at the recipe's own rate; the radius does not depend on the final
// training. Costs one run per split and rate.
RateSweep sweep_rates(const SplitSource& source, const Variant& variant, const std::vector<double>& rates,
                      RunCounter& counter);
// The number of runs of sweep_rates per split.
std::size_t sweep_size(const Variant& variant, const std::vector<double>& rates);

}  // namespace annulus
