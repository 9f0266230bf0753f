// The precision's inverse is factor^T factor + tr(S) / d, where the factor is the deviations over the root of d.
#include "annulus/learn/baselines/discriminant_head.h"

#include <cmath>
#include <utility>
#include <vector>

#include "annulus/learn/baselines/gaussian_classes.h"

namespace annulus {

Head<float> discriminant_head(Matrix<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                              int threads) {
  ClassMoments moments = class_moments(std::move(rows), labels, classes);
  const std::vector<double> offsets(classes, -std::log(static_cast<double>(classes)));
  if (!moments.varies()) return unit_covariance_head(moments.means.view(), offsets);
  const std::size_t dimension = moments.deviations.cols();
  const double trace = moments.scatter_trace() / static_cast<double>(labels.size() - 1);
  const std::vector<double> diagonal(dimension, trace / static_cast<double>(dimension));
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dimension)));
  for (std::size_t i = 0; i < moments.deviations.rows(); ++i) {
    for (float& value : moments.deviations.row(i)) value *= scale;
  }
  return common_covariance_head(moments.means.view(), diagonal, std::move(moments.deviations), offsets, threads);
}

}  // namespace annulus
