// Logistic regression as a method: scikit-learn's LogisticRegression with C 1.
#include "annulus/eval/method.h"
#include "annulus/eval/softmax_regression.h"
#include "annulus/eval/unit_rows.h"

namespace annulus {

FittedMethod fit_logistic_method(const LabelledRows& support, const MethodContext& context,
                                 const ProgressCallback& progress) {
  // Two classes have one vector of weights there and two of half its size and opposite sign here, whose squares sum to
  // half as much.
  RegressionOptions options;
  options.penalty = support.classes == 2 ? 2.0 : 1.0;
  options.threads = context.threads();
  return fitted_head(softmax_regression(unit_rows<float>(support.features.view()).view(), support.labels,
                                        support.classes, options, progress),
                     true, context.threads());
}

}  // namespace annulus
