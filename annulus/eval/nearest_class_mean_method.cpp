// Nearest class mean as a method: no training, and a baseline that few-shot heads have to beat.
#include <cmath>
#include <cstddef>
#include <vector>

#include "annulus/eval/method.h"

namespace annulus {
namespace {

// Adds row / |row| to sum.
void add_normalised(std::span<const float> row, std::span<double> sum) {
  double squares = 0.0;
  for (const float value : row) squares += static_cast<double>(value) * static_cast<double>(value);
  const double scale = 1.0 / std::sqrt(squares);
  for (std::size_t j = 0; j < row.size(); ++j) sum[j] += scale * static_cast<double>(row[j]);
}

}  // namespace

// |z - m|^2 is smallest where z . m - |m|^2 / 2 is largest, so the means are a linear head.
FittedMethod fit_nearest_class_mean_method(const LabelledRows& support, const Recipe& recipe,
                                           const ProgressCallback& progress) {
  report(progress, {"class means", 0, 1, {}});
  const std::size_t dimension = support.features.cols();
  Matrix<double> sums(support.classes, dimension);
  std::vector<double> counts(support.classes, 0.0);
  for (std::size_t i = 0; i < support.labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(support.labels[i]);
    add_normalised(support.features.row(i), sums.row(label));
    counts[label] += 1.0;
  }
  Head<float> head{HeadKind::kLinear, Matrix<float>(support.classes, dimension), {}, {}};
  for (std::size_t c = 0; c < support.classes; ++c) {
    double squares = 0.0;
    for (std::size_t j = 0; j < dimension; ++j) {
      const double mean = sums(c, j) / counts[c];
      head.direction(c, j) = static_cast<float>(mean);
      squares += mean * mean;
    }
    head.bias.push_back(static_cast<float>(-squares / 2.0));
  }
  return fitted_head(std::move(head), 0.0, recipe.final_training.threads);
}

}  // namespace annulus
