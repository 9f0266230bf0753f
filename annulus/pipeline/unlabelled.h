// Unlabelled examples beside the training examples: from a path to a metric in the recipe of a fit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "annulus/base/matrix.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/pipeline/load.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// What became of a pool of unlabelled examples before the fit. Whether its metric suits the training examples is seen
// in the fit alone: FitResult::metric_prior.
struct PoolUse {
  std::size_t examples = 0;   // of the pool
  std::size_t looked_at = 0;  // 0: the pool is too small for so many classes
  std::size_t copies = 0;     // of those looked at, that do not differ from their nearest neighbour
  std::size_t needed = 0;     // examples, for the pool to be large enough

  bool taken() const { return looked_at > copies; }
};

// Features of a pool beside `training`, by load_pool; a list or labels among the options belong to the training
// examples. Throws as load_pool and check_same_features do.
FeatureSet load_unlabelled(const std::filesystem::path& path, const FeatureSet& training, const LoadOptions& options);

// Learns a metric from the features of a pool (learn/transform/pool_metric.h) and puts it into the recipe in the place
// of a backbone's, for training examples of `classes` classes that are raised to `power`. A pool that is too small
// leaves the recipe as it is. `provenance` gets the number of its examples as "unlabelled_examples".
PoolUse add_pool_metric(ConstMatrixView<float> pool, std::size_t classes, float power, int threads, Recipe& recipe,
                        Provenance& provenance);
// The same for a set, and for the named training examples.
PoolUse add_pool_metric(const FeatureSet& pool, const FeatureSet& training, std::span<const std::uint32_t> examples,
                        int threads, Recipe& recipe, Provenance& provenance);

// The power that the recipe's transform has for these raw training examples.
float transform_power(ConstMatrixView<float> training, const Recipe& recipe);

// A pool and a metric of elsewhere cannot both stand before the data's own. Throws Error{kUsage}.
void check_metric_beside_pool(const std::optional<std::string>& metric);

// One sentence for the user: what was used and what was left out.
std::string pool_text(const PoolUse& use, bool metric_used);

}  // namespace annulus
