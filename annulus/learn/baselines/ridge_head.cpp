// The weights of the ensemble's ridge regression, doubled: targets of +1 and -1 are twice those of 1 and 0, less 1.
#include "annulus/learn/baselines/ridge_head.h"

#include <cstddef>
#include <vector>

#include "annulus/kernels/rows.h"
#include "annulus/learn/ensemble/ridge.h"
#include "annulus/learn/ensemble/weighted_rows.h"

namespace annulus {

Head<float> ridge_head(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                       double penalty, int threads) {
  TrainingExamples<float> examples{
      Matrix<float>(rows.rows(), rows.cols()), {labels.begin(), labels.end()}, classes, {}};
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(rows.row(i).begin(), rows.row(i).end(), examples.features.row(i).begin());
  }
  Head<float> head{HeadKind::kLinear, ridge_weights(examples, {.absolute = penalty}, threads), {}, {}};
  const std::vector<float> mean = mean_row(examples);
  const std::vector<double> counts = class_weights(examples);
  for (std::size_t c = 0; c < classes; ++c) {
    const auto weights = head.direction.row(c);
    scale_row(weights, 2.0F);
    double bias = 2.0 * counts[c] / static_cast<double>(rows.rows()) - 1.0;
    for (std::size_t j = 0; j < mean.size(); ++j)
      bias -= static_cast<double>(weights[j]) * static_cast<double>(mean[j]);
    head.bias.push_back(static_cast<float>(bias));
  }
  return head;
}

}  // namespace annulus
