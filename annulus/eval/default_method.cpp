// What `annulus fit` does when told nothing else, as a method: IbM2 by the default recipe, whatever recipe the others
// follow.
#include <utility>

#include "annulus/eval/method.h"

namespace annulus {

FittedMethod fit_default_method(const LabelledRows& support, const MethodContext& context,
                                const ProgressCallback& progress) {
  const TrainOptions& asked = context.recipe.final_training;
  Recipe recipe = recipe_named("default");
  set_seed(recipe, asked.seed);
  set_task(recipe, asked.task);
  set_noise_bank(recipe, asked.bank);
  set_threads(recipe, asked.threads);
  return fitted_head(fit_ibm2(support, recipe, progress), asked.threads);
}

}  // namespace annulus
