// Nearest neighbours by blocks of products, twice, and the spread of their differences.
#include "annulus/learn/transform/pool_metric.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/transform/feature_transform.h"
#include "annulus/learn/transform/within_class_metric.h"

namespace annulus {
namespace {

constexpr std::size_t kMostPoolNumbers = std::size_t{1} << 24;  // of the features looked at
constexpr std::size_t kNeighbourRowsPerTask = 256;
constexpr double kLeastPoolTrace = 1e-12;  // of rows of length 1: less is rounding

// The rows that are looked at, in an order of their content.
std::vector<std::size_t> chosen_rows(ConstMatrixView<float> rows) {
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto left = rows.row(a);
    const auto right = rows.row(b);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  });
  const std::size_t most = std::min(kMostPoolRows, std::max<std::size_t>(kMostPoolNumbers / rows.cols(), 2));
  if (order.size() <= most) return order;
  std::vector<std::size_t> chosen(most);
  for (std::size_t i = 0; i < most; ++i) chosen[i] = order[i * order.size() / most];
  return chosen;
}

// Raised to the power, and of length 1.
Matrix<float> unit_rows(ConstMatrixView<float> rows, std::span<const std::size_t> chosen, float power) {
  Matrix<float> result(chosen.size(), rows.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i) std::ranges::copy(rows.row(chosen[i]), result.row(i).begin());
  FeatureTransform transform;
  transform.power = power;
  transform_rows(transform, result.view());
  for (std::size_t i = 0; i < result.rows(); ++i) {
    scale_row(result.row(i), 1.0F / checked_length(std::as_const(result).row(i), chosen[i]));
  }
  return result;
}

// Rows without length stay as they are.
void scale_to_unit(MatrixView<float> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    const float square = squared_length(std::span<const float>(row));
    if (square > 0.0F) scale_row(row, 1.0F / std::sqrt(square));
  }
}

void centre(MatrixView<float> rows) {
  std::vector<double> sums(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += static_cast<double>(row[j]);
  }
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / static_cast<double>(rows.rows())));
  for (std::size_t i = 0; i < rows.rows(); ++i) subtract_centre(mean, rows.row(i));
}

// Of rows of length 1: the other row of the largest cosine, the first of several.
std::vector<std::size_t> nearest_neighbours(ConstMatrixView<float> rows, int threads) {
  std::vector<std::size_t> nearest(rows.rows());
  parallel_for(threads, (rows.rows() + kNeighbourRowsPerTask - 1) / kNeighbourRowsPerTask, [&](std::size_t task) {
    const std::size_t first = task * kNeighbourRowsPerTask;
    const std::size_t count = std::min(kNeighbourRowsPerTask, rows.rows() - first);
    Matrix<float> cosines(count, rows.rows());
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows.rows_at(first, count), rows, 0.0F, cosines.view(), 1);
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = cosines.row(i);
      row[first + i] = -2.0F;  // not itself
      nearest[first + i] = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    }
  });
  return nearest;
}

// Of the differences between rows and their neighbours, all together of trace 1; empty where there are none.
Metric metric_of_differences(ConstMatrixView<float> rows, std::span<const std::size_t> nearest, int threads,
                             std::size_t& copies) {
  Matrix<float> differences(rows.rows(), rows.cols());
  double trace = 0.0;
  copies = 0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto from = rows.row(i);
    const auto neighbour = rows.row(nearest[i]);
    const auto to = differences.row(i);
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = from[j] - neighbour[j];
    const auto square = static_cast<double>(squared_length(std::span<const float>(to)));
    if (square < kLeastPoolTrace) ++copies;
    trace += square;
  }
  if (!(trace > kLeastPoolTrace)) return {};
  const auto factor = static_cast<float>(1.0 / std::sqrt(trace));
  for (std::size_t i = 0; i < differences.rows(); ++i) scale_row(differences.row(i), factor);
  Metric metric =
      metric_of(leading_directions(std::as_const(differences).view(), 1.0, kMetricRank, threads), kPoolShrinkage);
  for (float& shrink : metric.shrink) shrink = std::max(shrink, 0.0F);  // rounding may go below
  return metric;
}

std::string checksum_of(const Metric& metric) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(metric.axes)));
  hash.update(std::as_bytes(std::span(metric.shrink)));
  return hash.finish_hex();
}

}  // namespace

std::size_t least_pool(std::size_t classes) { return std::max(kLeastPool, kLeastPoolPerClass * classes); }

PoolMetric learn_pool_metric(ConstMatrixView<float> rows, float power, int threads) {
  PoolMetric result;
  result.prior.power = power;
  if (rows.rows() < kLeastPool) return result;
  const std::vector<std::size_t> chosen = chosen_rows(rows);
  const Matrix<float> unit = unit_rows(rows, chosen, power);
  result.looked_at = chosen.size();
  Matrix<float> centred = unit.clone();
  centre(centred.view());
  scale_to_unit(centred.view());
  const Metric first = metric_of_differences(unit.view(), nearest_neighbours(std::as_const(centred).view(), threads),
                                             threads, result.copies);
  if (first.empty()) return result;
  apply_metric(first, centred.view(), threads);
  scale_to_unit(centred.view());
  result.prior.metric = metric_of_differences(unit.view(), nearest_neighbours(std::as_const(centred).view(), threads),
                                              threads, result.copies);
  result.prior.checksum = checksum_of(result.prior.metric);
  return result;
}

}  // namespace annulus
