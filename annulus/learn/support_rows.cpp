// Picks, scales and rounds the rows that a model keeps.
#include "annulus/learn/support_rows.h"

#include <algorithm>

#include "annulus/kernels/half.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/conditioning.h"

namespace annulus {
namespace {

// Row numbers in their order, at most kMostSupportRows a class.
std::vector<std::size_t> rows_to_keep(std::span<const std::int32_t> labels, std::size_t classes) {
  const std::vector<std::size_t> counts = class_counts(labels, classes);
  std::vector<std::size_t> seen(classes, 0);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto c = static_cast<std::size_t>(labels[i]);
    const std::size_t number = seen[c]++;
    const std::size_t wanted = std::min(counts[c], kMostSupportRows);
    // Of `counts` rows those at which the number of rows kept so far grows.
    if ((number + 1) * wanted / counts[c] > number * wanted / counts[c]) kept.push_back(i);
  }
  return kept;
}

}  // namespace

SupportRows keep_support(const LabelledRows& rows, std::span<const std::string> paths) {
  const std::vector<std::size_t> kept = rows_to_keep(rows.labels, rows.classes);
  SupportRows support;
  support.features = Matrix<float>(kept.size(), rows.features.cols());
  std::vector<std::uint16_t> half(rows.features.cols());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto source = rows.features.row(kept[i]);
    const auto row = support.features.row(i);
    const float length = checked_length(source, kept[i]);
    std::copy(source.begin(), source.end(), row.begin());
    scale_row(row, 1.0F / length);
    narrow_half(row, half);
    widen_half(half, row);
    support.labels.push_back(rows.labels[kept[i]]);
    if (!paths.empty()) support.paths.push_back(paths[kept[i]]);
  }
  return support;
}

std::vector<float> support_weights(const LabelledRows& rows) {
  std::vector<float> weights;
  if (rows.weights.empty()) return weights;
  for (const std::size_t row : rows_to_keep(rows.labels, rows.classes)) weights.push_back(rows.weights[row]);
  return weights;
}

SupportRows select_support(const SupportRows& support, std::span<const std::size_t> rows) {
  SupportRows chosen;
  chosen.features = Matrix<float>(rows.size(), support.features.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = support.features.row(rows[i]);
    std::copy(row.begin(), row.end(), chosen.features.row(i).begin());
    chosen.labels.push_back(support.labels[rows[i]]);
    if (!support.paths.empty()) chosen.paths.push_back(support.paths[rows[i]]);
  }
  return chosen;
}

SupportRows join_support(const SupportRows& support, const SupportRows& more) {
  SupportRows joined;
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

SupportRows thin_support(SupportRows support, std::size_t classes) {
  const std::vector<std::size_t> kept = rows_to_keep(support.labels, classes);
  if (kept.size() == support.rows()) return support;
  return select_support(support, kept);
}

}  // namespace annulus
