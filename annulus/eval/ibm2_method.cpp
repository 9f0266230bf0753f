// IbM2 as a method: radius search, then the recipe's head trained on virtual examples.
#include <utility>

#include "annulus/eval/method.h"

namespace annulus {

FittedMethod fit_ibm2_method(const LabelledRows& support, const MethodContext& context,
                             const ProgressCallback& progress) {
  return fitted_head(fit_ibm2(support, context.recipe, progress), context.threads());
}

}  // namespace annulus
