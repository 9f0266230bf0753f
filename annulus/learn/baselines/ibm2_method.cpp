// IbM2 as a method: radius search, then the recipe's head trained on virtual examples.
#include "annulus/learn/baselines/method.h"

namespace annulus {

FittedMethod fit_ibm2_method(const LabelledExamples& support, const MethodContext& context,
                             const ProgressCallback& progress) {
  Recipe recipe = context.recipe;
  recipe.virtual_examples = true;
  return fitted_head(fit_head(support, recipe, progress), context.threads());
}

}  // namespace annulus
