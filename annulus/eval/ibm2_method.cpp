// IbM2 as a method: radius search, then the recipe's head trained on virtual examples.
#include <utility>

#include "annulus/eval/method.h"

namespace annulus {

FittedMethod fit_ibm2_method(const LabelledRows& support, const Recipe& recipe, const ProgressCallback& progress) {
  FitResult fit = fit_ibm2(support, recipe, progress);
  return fitted_head(std::move(fit.head), fit.epsilon, recipe.final_training.threads);
}

}  // namespace annulus
