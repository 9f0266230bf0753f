// What `annulus fit` does when told nothing else, as a method: the recipe "default", whatever recipe the others follow,
// with probabilities at the temperature that calibration gives.
#include <utility>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/calibration/calibration.h"

namespace annulus {

FittedMethod fit_default_method(const LabelledExamples& support, const MethodContext& context,
                                const ProgressCallback& progress) {
  const TrainOptions& options = context.recipe.final_training;
  Recipe recipe = recipe_named("default");
  if (context.recipe.metric_of_default) recipe.metric = *context.recipe.metric_of_default;
  set_seed(recipe, options.seed);
  set_task(recipe, options.task);
  set_noise_bank(recipe, options.bank);
  set_threads(recipe, options.threads);
  FitResult fit = fit_head(support, recipe, progress);
  // Episodes, which bring a bank, ask for no probabilities.
  if (options.bank != nullptr) return fitted_head(std::move(fit), options.threads);
  const double temperature =
      calibrate(keep_support(support, {}), fit, recipe, progress, {}, /*with_rule=*/false).temperature;
  return fitted_head(std::move(fit), options.threads, temperature);
}

}  // namespace annulus
