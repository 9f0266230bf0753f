// Gaussian discriminant analysis as a method, as Wang et al. (ICLR 2024) use it on frozen features, image side only:
// classes are Gaussians with one covariance and equal priors.
#include <span>

#include "annulus/learn/baselines/discriminant_head.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {

FittedMethod fit_gda_method(const LabelledExamples& support, const MethodContext& context,
                            const ProgressCallback& progress) {
  report(progress, {"gda", 0, 1, {}});
  return fitted_head(
      discriminant_head(unit_rows<float>(support.features.view()), support.labels, support.classes, context.threads()),
      true, context.threads());
}

}  // namespace annulus
