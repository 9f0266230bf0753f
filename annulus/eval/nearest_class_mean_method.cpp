// Nearest class mean as a method: no training, and a baseline that few-shot heads have to beat.
#include "annulus/eval/class_means.h"
#include "annulus/eval/method.h"
#include "annulus/eval/unit_rows.h"

namespace annulus {

FittedMethod fit_nearest_class_mean_method(const LabelledRows& support, const MethodContext& context,
                                           const ProgressCallback& progress) {
  report(progress, {"class means", 0, 1, {}});
  const Matrix<double> rows = unit_rows<double>(support.features.view());
  return fitted_head(nearest_mean_head(rows.view(), support.labels, support.classes), false, context.threads());
}

}  // namespace annulus
