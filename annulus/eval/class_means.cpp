// Averages the rows of each class.
#include "annulus/eval/class_means.h"

#include <cstddef>
#include <vector>

namespace annulus {

Head<float> nearest_mean_head(ConstMatrixView<double> rows, std::span<const std::int32_t> labels, std::size_t classes) {
  Matrix<double> sums(classes, rows.cols());
  std::vector<double> counts(classes, 0.0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    for (std::size_t j = 0; j < rows.cols(); ++j) sums(label, j) += rows(i, j);
    counts[label] += 1.0;
  }
  Head<float> head{HeadKind::kLinear, Matrix<float>(classes, rows.cols()), {}, {}};
  for (std::size_t c = 0; c < classes; ++c) {
    double squares = 0.0;
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      const double mean = sums(c, j) / counts[c];
      head.direction(c, j) = static_cast<float>(mean);
      squares += mean * mean;
    }
    head.bias.push_back(static_cast<float>(-squares / 2.0));
  }
  return head;
}

}  // namespace annulus
