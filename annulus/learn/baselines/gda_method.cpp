// Gaussian discriminant analysis as a method, as Wang et al. (ICLR 2024) use it on frozen features, image side only:
// classes are Gaussians with one covariance and equal priors.
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "annulus/learn/baselines/gaussian_classes.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {

// With M examples of d dimensions and their within-class covariance S (scatter over M - 1), the precision is
// d ((M - 1) S + tr(S))^-1, an empirical Bayes estimate that needs no tuning. Its inverse is factor^T factor + tr(S) /
// d, where the factor is the deviations over the root of d. Without a within-class covariance, as with one example per
// class, the precision is the identity: the nearest prototype.
FittedMethod fit_gda_method(const LabelledExamples& support, const MethodContext& context,
                            const ProgressCallback& progress) {
  report(progress, {"gda", 0, 1, {}});
  ClassMoments moments = class_moments(unit_rows<float>(support.features.view()), support.labels, support.classes);
  const std::vector<double> offsets(support.classes, -std::log(static_cast<double>(support.classes)));
  if (!moments.varies()) {
    return fitted_head(unit_covariance_head(moments.means.view(), offsets), true, context.threads());
  }
  const auto dimension = static_cast<double>(support.features.cols());
  const double trace = moments.scatter_trace() / static_cast<double>(support.labels.size() - 1);
  const std::vector<double> diagonal(support.features.cols(), trace / dimension);
  const auto scale = static_cast<float>(1.0 / std::sqrt(dimension));
  for (std::size_t i = 0; i < moments.deviations.rows(); ++i) {
    for (float& value : moments.deviations.row(i)) value *= scale;
  }
  return fitted_head(
      common_covariance_head(moments.means.view(), diagonal, std::move(moments.deviations), offsets, context.threads()),
      true, context.threads());
}

}  // namespace annulus
