// Logistic regression as a method: scikit-learn's LogisticRegression with C 1.
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/softmax_regression.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {

FittedMethod fit_logistic_method(const LabelledExamples& support, const MethodContext& context,
                                 const ProgressCallback& progress) {
  // With two classes scikit-learn has one weight vector; here are two of half its size and opposite sign, whose squares
  // sum to half as much.
  RegressionOptions options;
  options.penalty = support.classes == 2 ? 2.0 : 1.0;
  options.threads = context.threads();
  return fitted_head(softmax_regression(unit_rows<float>(support.features.view()).view(), support.labels,
                                        support.classes, options, progress),
                     true, context.threads());
}

}  // namespace annulus
