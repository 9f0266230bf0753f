// The nearest prototype as a method: no training, and a baseline that few-shot heads have to beat.
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/prototypes.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {

FittedMethod fit_nearest_prototype_method(const LabelledExamples& support, const MethodContext& context,
                                          const ProgressCallback& progress) {
  report(progress, {"prototypes", 0, 1, {}});
  const Matrix<double> rows = unit_rows<double>(support.features.view());
  return fitted_head(nearest_mean_head(rows.view(), support.labels, support.classes), false, context.threads());
}

}  // namespace annulus
