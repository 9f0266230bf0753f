// Stacks deviations from class means, every set with the same trace.
#include "annulus/learn/transform/metric_prior.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/transform/feature_transform.h"
#include "annulus/learn/transform/within_class_metric.h"

namespace annulus {
namespace {

constexpr std::size_t kMostPriorNumbers = std::size_t{1} << 24;  // of the features of a set
constexpr double kLeastTrace = 1e-12;                            // of rows of length 1: less is rounding

// The power that most examples take; 1 where any set has negative values.
float common_power(std::span<const LabelledExamples> sets) {
  std::vector<std::pair<float, std::size_t>> votes;
  for (const LabelledExamples& set : sets) {
    const float power = learn_transform(set.features.view(), TransformKind::kAuto).power;
    if (power == 1.0F) return 1.0F;
    const auto found = std::find_if(votes.begin(), votes.end(), [&](const auto& vote) { return vote.first == power; });
    if (found == votes.end()) {
      votes.emplace_back(power, set.labels.size());
    } else {
      found->second += set.labels.size();
    }
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

// The examples of the classes that are looked at, class by class.
std::vector<std::vector<std::size_t>> informative_classes(const LabelledExamples& set) {
  std::vector<std::vector<std::size_t>> members(set.classes);
  for (std::size_t i = 0; i < set.labels.size(); ++i) members[static_cast<std::size_t>(set.labels[i])].push_back(i);
  std::erase_if(members, [](const auto& rows) { return rows.size() < 2; });
  std::size_t all = 0;
  for (const auto& rows : members) all += rows.size();
  const std::size_t most = std::max<std::size_t>(kMostPriorNumbers / std::max<std::size_t>(set.features.cols(), 1), 2);
  if (all <= most) return members;
  const std::size_t kept = std::max<std::size_t>(1, members.size() * most / all);
  std::vector<std::vector<std::size_t>> chosen;
  for (std::size_t c = 0; c < kept; ++c) chosen.push_back(std::move(members[c * members.size() / kept]));
  return chosen;
}

// Transformed rows of unit length minus the means of their classes; the sum of their squared lengths is 1.
Matrix<float> unit_deviations(const LabelledExamples& set, float power) {
  const auto classes = informative_classes(set);
  std::size_t count = 0;
  for (const auto& rows : classes) count += rows.size();
  const std::size_t dimension = set.features.cols();
  Matrix<float> deviations(count, dimension);
  FeatureTransform transform;
  transform.power = power;
  double trace = 0.0;
  std::size_t first = 0;
  for (const auto& rows : classes) {
    std::vector<double> mean(dimension, 0.0);
    const MatrixView<float> block = deviations.view().rows_at(first, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(set.features.row(rows[i]).begin(), dimension, block.row(i).begin());
    }
    transform_rows(transform, block);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = block.row(i);
      scale_row(row, 1.0F / checked_length(row, rows[i]));
      for (std::size_t j = 0; j < dimension; ++j)
        mean[j] += static_cast<double>(row[j]) / static_cast<double>(rows.size());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = block.row(i);
      for (std::size_t j = 0; j < dimension; ++j) row[j] -= static_cast<float>(mean[j]);
      trace += static_cast<double>(squared_length(std::span<const float>(row)));
    }
    first += rows.size();
  }
  if (!(trace > kLeastTrace)) {
    fail(ErrorKind::kInput,
         "expected classes of two or more examples that differ, to learn a metric from, found none among {} examples",
         set.labels.size());
  }
  const auto factor = static_cast<float>(1.0 / std::sqrt(trace));
  for (std::size_t i = 0; i < count; ++i) scale_row(deviations.row(i), factor);
  return deviations;
}

}  // namespace

MetricPrior learn_metric_prior(std::span<const LabelledExamples> sets, double shrinkage, int threads) {
  if (sets.empty()) fail(ErrorKind::kInput, "expected a set to learn a metric from, found none");
  const std::size_t dimension = sets.front().features.cols();
  for (const LabelledExamples& set : sets) {
    if (set.features.cols() != dimension) {
      fail(ErrorKind::kInput, "expected sets of features of one dimension, found {} and {}", dimension,
           set.features.cols());
    }
  }
  MetricPrior prior;
  prior.power = common_power(sets);
  std::vector<Matrix<float>> parts;
  std::size_t count = 0;
  for (const LabelledExamples& set : sets) {
    parts.push_back(unit_deviations(set, prior.power));
    count += parts.back().rows();
  }
  Matrix<float> all = parts.size() == 1 ? std::move(parts.front()) : Matrix<float>(count, dimension);
  if (parts.size() > 1) {
    std::size_t first = 0;
    for (const Matrix<float>& part : parts) {
      std::copy_n(part.data(), part.rows() * dimension, all.row(first).data());
      first += part.rows();
    }
  }
  const Spectrum spectrum =
      leading_directions(std::as_const(all).view(), static_cast<double>(sets.size()), kMetricRank, threads);
  prior.metric = metric_of(spectrum, shrinkage);
  for (float& shrink : prior.metric.shrink) shrink = std::max(shrink, 0.0F);  // rounding may go below
  if (prior.metric.empty()) fail(ErrorKind::kInput, "expected examples that differ in some direction, found none");
  return prior;
}

}  // namespace annulus
