// Ridge regression whose penalty is chosen by leave-one-out errors as a method: scikit-learn's RidgeClassifierCV with
// the alphas below.
#include <cmath>
#include <limits>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/ridge_head.h"
#include "annulus/learn/baselines/ridge_path.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

// Penalties 10^-3, 10^-2.5, ..., 10^3: NumPy's logspace(-3, 3, 13).
constexpr int kFirstHalfPower = -6;
constexpr int kLastHalfPower = 6;

// The one with the least squared error, the least of equal ones.
double choose_penalty(const RidgePath& path, const ProgressCallback& progress) {
  double best = 1.0;
  double least = std::numeric_limits<double>::infinity();
  for (int power = kFirstHalfPower; power <= kLastHalfPower; ++power) {
    report(progress, {"ridge",
                      static_cast<std::size_t>(power - kFirstHalfPower),
                      static_cast<std::size_t>(kLastHalfPower - kFirstHalfPower + 1),
                      {}});
    const double penalty = std::pow(10.0, power / 2.0);
    const double error = path.leave_one_out_error(penalty);
    if (error < least) {
      least = error;
      best = penalty;
    }
  }
  return best;
}

}  // namespace

FittedMethod fit_ridge_cv_method(const LabelledExamples& support, const MethodContext& context,
                                 const ProgressCallback& progress) {
  report(progress, {"ridge", 0, 1, {}});
  const Matrix<float> unit = unit_rows<float>(support.features.view());
  const double penalty =
      choose_penalty(RidgePath(unit.view(), support.labels, support.classes, context.threads()), progress);
  return fitted_head(ridge_head(unit.view(), support.labels, support.classes, penalty, context.threads()), false,
                     context.threads());
}

}  // namespace annulus
