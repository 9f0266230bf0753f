// The baseline as a method: the recipe's head trained on the support examples themselves.
#include "annulus/learn/baselines/method.h"

namespace annulus {

FittedMethod fit_baseline_method(const LabelledExamples& support, const MethodContext& context,
                                 const ProgressCallback& progress) {
  Recipe recipe = context.recipe;
  recipe.virtual_examples = false;
  return fitted_head(fit_head(support, recipe, progress), context.threads());
}

}  // namespace annulus
