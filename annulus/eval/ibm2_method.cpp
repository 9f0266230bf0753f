// IbM2 as a method: radius search, then the recipe's head trained on virtual examples.
#include <utility>

#include "annulus/eval/method.h"

namespace annulus {

FittedMethod fit_ibm2_method(const LabelledRows& support, const MethodContext& context,
                             const ProgressCallback& progress) {
  FitResult fit = fit_ibm2(support, context.recipe, progress);
  return fitted_head(std::move(fit.head), fit.epsilon, context.threads());
}

}  // namespace annulus
