// A sample of deviations and its principal axes.
#include "annulus/learn/transform/class_spread.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "annulus/kernels/narrow_gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/transform/metric.h"

namespace annulus {
namespace {

constexpr double kLeastVariance = 1e-6;  // of an axis, in units of the largest

// The sampled rows minus the means of their classes.
Matrix<float> deviations_within(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                                std::span<const std::size_t> left_out) {
  std::unordered_map<std::int32_t, std::size_t> counts;
  std::vector<std::size_t> looked_at;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::binary_search(left_out.begin(), left_out.end(), i)) continue;
    looked_at.push_back(i);
    ++counts[labels[i]];
  }
  std::erase_if(looked_at, [&](std::size_t row) { return counts[labels[row]] < 2; });
  const std::size_t size = std::min(kSpreadRows, looked_at.size());
  std::vector<std::size_t> sample;
  std::unordered_map<std::int32_t, std::vector<float>> sums;
  for (std::size_t i = 0; i < size; ++i) {
    sample.push_back(looked_at[i * looked_at.size() / size]);
    sums[labels[sample.back()]].resize(rows.cols(), 0.0F);
  }
  for (const std::size_t row : looked_at) {
    if (const auto sum = sums.find(labels[row]); sum != sums.end()) {
      add_row(rows.row(row), std::span<float>(sum->second));
    }
  }
  Matrix<float> deviations(size, rows.cols());
  for (std::size_t i = 0; i < size; ++i) {
    const std::int32_t label = labels[sample[i]];
    const float part = 1.0F / static_cast<float>(counts[label]);
    const std::vector<float>& sum = sums[label];
    const auto row = rows.row(sample[i]);
    const auto out = deviations.row(i);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = row[j] - part * sum[j];
  }
  return deviations;
}

}  // namespace

Matrix<float> class_spread_axes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, int threads,
                                std::span<const std::size_t> left_out) {
  const Matrix<float> deviations = deviations_within(rows, labels, left_out);
  if (deviations.rows() == 0) return {};
  Spectrum spectrum = leading_directions(deviations.view(), 1.0, kSpreadAxes, threads);
  const double mean = spectrum.total / static_cast<double>(rows.cols());  // over all directions
  if (spectrum.variances.empty() || !(spectrum.variances.front() > 0.0) || !(mean > 0.0)) return {};
  std::size_t count = 0;
  while (count < spectrum.variances.size() && spectrum.variances[count] > kLeastVariance * spectrum.variances.front()) {
    ++count;
  }
  Matrix<float> axes(count, rows.cols());
  for (std::size_t k = 0; k < count; ++k) {
    const auto axis = spectrum.axes.row(k);
    std::copy(axis.begin(), axis.end(), axes.row(k).begin());
    scale_row(axes.row(k), static_cast<float>(std::sqrt(spectrum.variances[k] / (spectrum.variances[k] + mean))));
  }
  return axes;
}

AxisNumbers along_axes(ConstMatrixView<float> axes, std::span<const float> row) {
  AxisNumbers numbers{};
  if (!axes.empty()) {
    narrow_products(1.0F, ConstMatrixView<float>(row.data(), 1, row.size()), axes,
                    MatrixView<float>(numbers.data(), 1, axes.rows()));
  }
  return numbers;
}

}  // namespace annulus
