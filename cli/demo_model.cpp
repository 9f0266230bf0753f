// Fits the model that a demo saves.
#include "cli/demo_model.h"

#include <utility>

#include "annulus/base/version.h"
#include "annulus/learn/calibration.h"
#include "annulus/task/few_shot_task.h"
#include "cli/progress_bar.h"

namespace annulus::cli {

Model fit_demo_model(const FeatureSet& set, std::span<const std::uint32_t> support, std::uint64_t seed, Recipe recipe,
                     const RunOptions& run) {
  ProgressBar bar(run.quiet);
  set_seed(recipe, seed);
  LabelledRows rows = gather(set, support);
  Model model;
  model.support = keep_support(rows, paths_of(set, support));
  FitResult fit = fit_ibm2(std::move(rows), recipe, bar.callback());
  Calibration calibration = calibrate(model.support, fit, recipe, fit_ibm2, bar.callback());
  model.temperature = calibration.temperature;
  model.unknown = std::move(calibration.unknown);
  model.class_names.assign(set.class_names().begin(), set.class_names().end());
  model.epsilon = fit.epsilon;
  model.training = describe(recipe);
  model.training["version"] = kVersion;
  model.provenance = set.provenance();
  model.head = std::move(fit.head);
  model.trained = std::move(fit.trained);
  return model;
}

}  // namespace annulus::cli
