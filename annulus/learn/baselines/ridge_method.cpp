// Ridge regression onto +1 (own class) and -1 (others) as a method: scikit-learn's RidgeClassifier with alpha 1.
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/ridge_head.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr double kPenalty = 1.0;  // alpha

}  // namespace

FittedMethod fit_ridge_method(const LabelledExamples& support, const MethodContext& context,
                              const ProgressCallback& progress) {
  report(progress, {"ridge", 0, 1, {}});
  const Matrix<float> unit = unit_rows<float>(support.features.view());
  return fitted_head(ridge_head(unit.view(), support.labels, support.classes, kPenalty, context.threads()), false,
                     context.threads());
}

}  // namespace annulus
