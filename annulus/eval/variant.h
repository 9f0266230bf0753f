// Variants of a method on the same draws: what the tables of the paper and the ablations are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/cells.h"
#include "annulus/eval/many_way.h"
#include "annulus/eval/metrics.h"
#include "annulus/learn/recipe.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Trains by a method and a recipe on draw number `draw` and tests; the recipe's seed is set by the draw.
struct DrawSource {
  std::size_t draws = 0;
  std::function<ManyWayRun(std::size_t draw, const std::string& method, const Recipe& recipe,
                           const ProgressCallback& progress)>
      run;
};

struct DrawOptions {
  std::uint64_t seed = 0;   // draw i uses seed + i
  CellStore cells{};        // finished runs that are kept
  std::string data_name{};  // names the features by their content, for the keys of cells; files are named by themselves
};

// Draw i learns from every row of training[i]; all are tested on `test`. The sets must outlive the source.
DrawSource draws_of_files(std::span<const FeatureSet> training, const FeatureSet& test, const DrawOptions& options);
// Draw i takes `shots` rows of every class of one set (see evaluate_many_way).
DrawSource draws_of_rows(const FeatureSet& set, std::size_t shots, std::size_t draws, const DrawOptions& options);
// Draw i takes `shots` whole groups (see evaluate_across_groups).
DrawSource draws_of_groups(const FeatureSet& set, std::span<const std::int32_t> groups, std::size_t shots,
                           std::size_t draws, const DrawOptions& options);

struct Variant {
  std::string name;    // for tables
  std::string method;  // one of methods()
  Recipe recipe;
};

struct VariantScore {
  std::vector<ManyWayRun> runs;
  std::vector<double> recall;  // of each class, mean over the runs
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

VariantScore score_variant(const DrawSource& source, const Variant& variant, RunCounter& counter);

// The ten learning rates among which the paper takes the best.
const std::vector<double>& paper_rates();
// True for methods whose training a learning rate rules.
bool has_learning_rate(const std::string& method);

struct RateSweep {
  VariantScore standard;             // at the recipe's own rate
  std::vector<VariantScore> scores;  // at each rate
  std::size_t best = 0;              // of scores: the highest mean accuracy ON THE TEST LABELS, of equals the first
};

// Every rate sees the radius that the search found at its own; it does not depend on the final training. Costs a run a
// draw for the recipe's own rate and for each other one.
RateSweep sweep_rates(const DrawSource& source, const Variant& variant, const std::vector<double>& rates,
                      RunCounter& counter);
// Runs that sweep_rates takes a draw.
std::size_t sweep_size(const Variant& variant, const std::vector<double>& rates);

}  // namespace annulus
