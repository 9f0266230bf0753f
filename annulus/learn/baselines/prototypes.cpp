// Averages the examples of each class.
#include "annulus/learn/baselines/prototypes.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "annulus/kernels/rows.h"

namespace annulus {

Head<float> nearest_mean_head(ConstMatrixView<double> rows, std::span<const std::int32_t> labels, std::size_t classes) {
  Matrix<double> means(classes, rows.cols());
  std::vector<double> counts(classes, 0.0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    add_row(rows.row(i), means.row(label));
    counts[label] += 1.0;
  }
  Head<float> head{HeadKind::kLinear, Matrix<float>(classes, rows.cols()), {}, {}};
  for (std::size_t c = 0; c < classes; ++c) {
    const auto mean = means.row(c);
    if (counts[c] > 1.0) scale_row(mean, 1.0 / counts[c]);
    std::transform(mean.begin(), mean.end(), head.direction.row(c).begin(),
                   [](double value) { return static_cast<float>(value); });
    head.bias.push_back(static_cast<float>(-squared_length(std::span<const double>(mean)) / 2.0));
  }
  return head;
}

}  // namespace annulus
