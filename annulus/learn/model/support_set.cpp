// Picks, scales and rounds the rows that a model keeps.
#include "annulus/learn/model/support_set.h"

#include <algorithm>
#include <utility>

#include "annulus/kernels/half.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/transform/feature_transform.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

// Row numbers in their order, at most kMostSupportExamples a class.
std::vector<std::size_t> rows_to_keep(std::span<const std::int32_t> labels, std::size_t classes) {
  const std::vector<std::size_t> counts = class_counts(labels, classes);
  std::vector<std::size_t> seen(classes, 0);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto c = static_cast<std::size_t>(labels[i]);
    const std::size_t number = seen[c]++;
    const std::size_t wanted = std::min(counts[c], kMostSupportExamples);
    // Of `counts` rows those at which the number of rows kept so far grows.
    if ((number + 1) * wanted / counts[c] > number * wanted / counts[c]) kept.push_back(i);
  }
  return kept;
}

// Labels, paths and groups of the named rows.
SupportSet named_rows(std::span<const std::size_t> rows, std::span<const std::int32_t> labels,
                      std::span<const std::string> paths, std::span<const std::int32_t> groups) {
  SupportSet named;
  named.labels.reserve(rows.size());
  for (const std::size_t row : rows) {
    named.labels.push_back(labels[row]);
    if (!paths.empty()) named.paths.push_back(paths[row]);
    if (!groups.empty()) named.groups.push_back(groups[row]);
  }
  return named;
}

}  // namespace

SupportSet keep_support(const LabelledExamples& rows, std::span<const std::string> paths) {
  const std::vector<std::size_t> kept = rows_to_keep(rows.labels, rows.classes);
  SupportSet support = named_rows(kept, rows.labels, paths, rows.groups);
  support.partition = rows.partition.of(kept);
  const Slice own = support.partition.own(kept.size());
  const std::size_t here = rows.partition.own(rows.labels.size()).first;
  support.features = Matrix<float>(own.count, rows.features.cols());
  std::vector<std::uint16_t> half(rows.features.cols());
  for (std::size_t i = 0; i < own.count; ++i) {
    const std::size_t number = kept[own.first + i];
    const auto source = rows.features.row(number - here);
    const auto row = support.features.row(i);
    const float length = checked_length(source, number);
    std::copy(source.begin(), source.end(), row.begin());
    scale_row(row, 1.0F / length);
    narrow_half(row, half);
    widen_half(half, row);
  }
  return support;
}

std::vector<float> support_weights(const LabelledExamples& rows) {
  std::vector<float> weights;
  if (rows.weights.empty()) return weights;
  for (const std::size_t row : rows_to_keep(rows.labels, rows.classes)) weights.push_back(rows.weights[row]);
  return weights;
}

SupportSet select_support(const SupportSet& support, std::span<const std::size_t> rows) {
  SupportSet chosen = named_rows(rows, support.labels, support.paths, support.groups);
  chosen.partition = support.partition.of(rows);
  const Slice own = chosen.partition.own(rows.size());
  const std::size_t here = support.partition.own(support.rows()).first;
  chosen.features = Matrix<float>(own.count, support.features.cols());
  for (std::size_t i = 0; i < own.count; ++i) {
    const auto row = support.features.row(rows[own.first + i] - here);
    std::copy(row.begin(), row.end(), chosen.features.row(i).begin());
  }
  return chosen;
}

SupportSet fetch_support(const SupportSet& support, std::span<const std::size_t> rows) {
  SupportSet chosen = named_rows(rows, support.labels, support.paths, support.groups);
  chosen.features = Matrix<float>(rows.size(), support.features.cols());
  fetch_rows(support.partition, support.features.view(), rows, chosen.features.view());
  return chosen;
}

SupportSet collect_support(SupportSet support) {
  Communicator* const communicator = support.partition.communicator();
  if (communicator == nullptr) return support;
  const std::size_t cols = support.features.cols();
  const auto numbers = [cols](Matrix<float>& rows, Slice run) {
    return run.count == 0 ? std::span<float>{} : std::span<float>(rows.row(run.first).data(), run.count * cols);
  };
  if (communicator->rank() != 0) {
    communicator->send(communicator->rank(), numbers(support.features, {0, support.features.rows()}));
    return {};
  }
  SupportSet all{Matrix<float>(support.rows(), cols), std::move(support.labels), std::move(support.paths)};
  std::copy_n(support.features.data(), support.features.rows() * cols, all.features.data());
  for (std::size_t rank = 1; rank < communicator->size(); ++rank) {
    communicator->send(rank, numbers(all.features, support.partition.part(rank)));
  }
  return all;
}

SupportSet join_support(const SupportSet& support, const SupportSet& more) {
  SupportSet joined;
  joined.features = Matrix<float>(support.rows() + more.rows(), support.features.cols());
  joined.labels = support.labels;
  joined.labels.insert(joined.labels.end(), more.labels.begin(), more.labels.end());
  for (std::size_t i = 0; i < joined.features.rows(); ++i) {
    const auto row = i < support.rows() ? support.features.row(i) : more.features.row(i - support.rows());
    std::copy(row.begin(), row.end(), joined.features.row(i).begin());
  }
  if (support.paths.empty() && more.paths.empty()) return joined;
  joined.paths = support.paths;
  joined.paths.resize(support.rows());
  joined.paths.insert(joined.paths.end(), more.paths.begin(), more.paths.end());
  joined.paths.resize(joined.features.rows());
  return joined;
}

SupportSet thin_support(SupportSet support, std::size_t classes) {
  const std::vector<std::size_t> kept = rows_to_keep(support.labels, classes);
  if (kept.size() == support.rows()) return support;
  return select_support(support, kept);
}

}  // namespace annulus
