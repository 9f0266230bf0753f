// Into a metric and out of it.
#include "annulus/learn/method/metric_space.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

constexpr std::size_t kMappedPerTask = 256;

template <class Use>
void for_each_row_of(MatrixView<float> rows, int threads, const Use& use) {
  parallel_for(threads, (rows.rows() + kMappedPerTask - 1) / kMappedPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(rows.rows(), (task + 1) * kMappedPerTask);
    for (std::size_t i = task * kMappedPerTask; i < end; ++i) use(i, rows.row(i));
  });
}

std::vector<float> weighted_mean(const LabelledExamples& rows, Slice own) {
  std::vector<double> sums(rows.features.cols() + 1, 0.0);  // and of the weights
  for (std::size_t i = 0; i < own.count; ++i) {
    const double weight = rows.weights.empty() ? 1.0 : static_cast<double>(rows.weights[own.first + i]);
    const auto row = rows.features.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += weight * static_cast<double>(row[j]);
    sums.back() += weight;
  }
  rows.partition.sum(sums);
  std::vector<float> mean;
  for (std::size_t j = 0; j + 1 < sums.size(); ++j) mean.push_back(static_cast<float>(sums[j] / sums.back()));
  return mean;
}

// Whether some class has two examples: one is not enough to see a class vary.
bool has_pairs(const LabelledExamples& rows) {
  for (const std::size_t count : class_counts(rows.labels, rows.classes)) {
    if (count > 1) return true;
  }
  return false;
}

// The prior of the options where it can map rows that `input` has transformed.
const MetricPrior* usable_prior(const MetricOptions& options, const FeatureTransform& input, std::size_t dimension) {
  const MetricPrior* const prior = options.prior.get();
  if (prior == nullptr || prior->power != input.power) return nullptr;
  if (prior->metric.axes.size() != prior->metric.rank() * dimension) {
    fail(ErrorKind::kInput, "expected a metric of {} dimensions as the features have, found {}", dimension,
         prior->metric.axes.size() / std::max<std::size_t>(prior->metric.rank(), 1));
  }
  return prior;
}

}  // namespace

double mean_inverse_length(ConstMatrixView<float> rows, const Partition& partition, std::size_t all_rows) {
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double length = std::sqrt(static_cast<double>(squared_length(rows.row(i))));
    if (length > 0.0) sum += 1.0 / length;
  }
  partition.sum(std::span<double>(&sum, 1));
  return sum / static_cast<double>(all_rows);
}

MetricSpace enter_metric_space(LabelledExamples& rows, const FeatureTransform& input, const MetricOptions& options,
                               int threads) {
  MetricSpace space;
  space.transform.power = input.power;
  const bool within_classes = options.within_classes && has_pairs(rows);
  const MetricPrior* const prior = usable_prior(options, input, rows.features.cols());
  if (prior == nullptr && !within_classes) return space;
  const Slice own = rows.partition.own(rows.labels.size());
  const MatrixView<float> features = rows.features.view();
  for_each_row_of(features, threads, [&](std::size_t i, std::span<float> row) {
    scale_row(row, 1.0F / checked_length(row, own.first + i));
  });
  space.transform.centre = weighted_mean(rows, own);
  for_each_row_of(features, threads,
                  [&](std::size_t, std::span<float> row) { subtract_centre(space.transform.centre, row); });
  const auto learn = [&](ConstMatrixView<float> centred) {
    return learn_within_class_metric(centred, rows.labels, rows.classes, rows.weights, rows.partition, options.strength,
                                     threads);
  };
  if (prior == nullptr) {
    space.within_classes = learn(features);
  } else {
    Matrix<float> mapped = rows.features.clone();
    apply_metric(prior->metric, mapped.view(), threads);
    if (within_classes) space.within_classes = learn(std::as_const(mapped).view());
    space.prior = true;
    if (space.within_classes.held_out_loss) {
      WithinClassMetric without = learn(features);
      space.prior = !(*without.held_out_loss < *space.within_classes.held_out_loss);
      if (!space.prior) space.within_classes = std::move(without);
    }
    if (space.prior) {
      rows.features = std::move(mapped);
      space.transform.metrics.push_back(prior->metric);
    }
  }
  apply_metric(space.within_classes.metric, rows.features.view(), threads);
  if (!space.within_classes.metric.empty()) {
    space.transform.metrics.push_back(std::exchange(space.within_classes.metric, {}));
  }
  space.mean_inverse_length = mean_inverse_length(rows.features.view(), rows.partition, rows.labels.size());
  return space;
}

Head<float> leave_metric_space(const Head<float>& head, const FeatureTransform& space, double mean_inverse_length,
                               int threads) {
  Head<float> result{HeadKind::kLinear, head.direction.clone(), {}, head.bias};
  // Metrics are symmetric: w . (A x) = (A w) . x.
  for (auto metric = space.metrics.rbegin(); metric != space.metrics.rend(); ++metric) {
    apply_metric(*metric, result.direction.view(), threads);
  }
  for (std::size_t c = 0; c < result.classes(); ++c) {
    const auto row = result.direction.row(c);
    scale_row(row, static_cast<float>(mean_inverse_length));
    double at_centre = 0.0;
    for (std::size_t j = 0; j < space.centre.size(); ++j) {
      at_centre += static_cast<double>(row[j]) * static_cast<double>(space.centre[j]);
    }
    result.bias[c] -= static_cast<float>(at_centre);
  }
  result.transform.power = space.power;
  return result;
}

}  // namespace annulus
