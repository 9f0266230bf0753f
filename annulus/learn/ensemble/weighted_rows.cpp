// Means and weights of training examples.
#include "annulus/learn/ensemble/weighted_rows.h"

namespace annulus {

double weight_of(const TrainingExamples<float>& rows, std::size_t row) {
  return rows.weights.empty() ? 1.0 : static_cast<double>(rows.weights[row]);
}

std::vector<double> class_weights(const TrainingExamples<float>& rows) {
  std::vector<double> sums(rows.classes, 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) sums[static_cast<std::size_t>(rows.labels[i])] += weight_of(rows, i);
  return sums;
}

std::vector<float> mean_row(const TrainingExamples<float>& rows) {
  std::vector<double> sums(rows.dimension(), 0.0);
  double count = 0.0;
  const Slice own = rows.partition.own(rows.rows());
  for (std::size_t i = 0; i < own.count; ++i) {
    const double weight = weight_of(rows, own.first + i);
    const auto row = rows.features.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += weight * static_cast<double>(row[j]);
    count += weight;
  }
  rows.partition.sum(sums);
  rows.partition.sum(std::span<double>(&count, 1));
  std::vector<float> mean;
  mean.reserve(sums.size());
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / count));
  return mean;
}

std::size_t place_of(const TrainingExamples<float>& rows, std::size_t row, Slice block) {
  return static_cast<std::size_t>(rows.labels[row]) - block.first;
}

void subtract_row(std::span<const float> what, std::span<float> row) {
  for (std::size_t j = 0; j < row.size(); ++j) row[j] -= what[j];
}

}  // namespace annulus
