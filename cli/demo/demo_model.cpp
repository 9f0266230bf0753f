// Fits the model that a demo saves.
#include "cli/demo/demo_model.h"

#include "annulus/learn/model/fit_model.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {

Model fit_demo_model(const FeatureSet& set, std::span<const std::uint32_t> support, std::uint64_t seed, Recipe recipe,
                     const RunOptions& run) {
  ProgressBar bar(run.quiet);
  set_seed(recipe, seed);
  FitModelOptions options;
  options.seed = seed;
  return fit_model(training_data(set, support), recipe, options, bar.callback()).model;
}

}  // namespace annulus::cli
