// The baseline as a method: the recipe's head trained on the support rows themselves.
#include <utility>

#include "annulus/eval/method.h"

namespace annulus {

FittedMethod fit_baseline_method(const LabelledRows& support, const MethodContext& context,
                                 const ProgressCallback& progress) {
  return fitted_head(fit_baseline(support, context.recipe, progress), context.threads());
}

}  // namespace annulus
