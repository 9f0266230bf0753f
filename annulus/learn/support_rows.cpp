// Picks, scales and rounds the rows that a model keeps.
#include "annulus/learn/support_rows.h"

#include <algorithm>
#include <utility>

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

// Labels and paths of the named rows.
SupportRows named_rows(std::span<const std::size_t> rows, std::span<const std::int32_t> labels,
                       std::span<const std::string> paths) {
  SupportRows named;
  named.labels.reserve(rows.size());
  for (const std::size_t row : rows) {
    named.labels.push_back(labels[row]);
    if (!paths.empty()) named.paths.push_back(paths[row]);
  }
  return named;
}

}  // namespace

SupportRows keep_support(const LabelledRows& rows, std::span<const std::string> paths) {
  const std::vector<std::size_t> kept = rows_to_keep(rows.labels, rows.classes);
  SupportRows support = named_rows(kept, rows.labels, paths);
  support.cut = rows.cut.of(kept);
  const Slice own = support.cut.own(kept.size());
  const std::size_t here = rows.cut.own(rows.labels.size()).first;
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

std::vector<float> support_weights(const LabelledRows& rows) {
  std::vector<float> weights;
  if (rows.weights.empty()) return weights;
  for (const std::size_t row : rows_to_keep(rows.labels, rows.classes)) weights.push_back(rows.weights[row]);
  return weights;
}

SupportRows select_support(const SupportRows& support, std::span<const std::size_t> rows) {
  SupportRows chosen = named_rows(rows, support.labels, support.paths);
  chosen.cut = support.cut.of(rows);
  const Slice own = chosen.cut.own(rows.size());
  const std::size_t here = support.cut.own(support.rows()).first;
  chosen.features = Matrix<float>(own.count, support.features.cols());
  for (std::size_t i = 0; i < own.count; ++i) {
    const auto row = support.features.row(rows[own.first + i] - here);
    std::copy(row.begin(), row.end(), chosen.features.row(i).begin());
  }
  return chosen;
}

SupportRows fetch_support(const SupportRows& support, std::span<const std::size_t> rows) {
  SupportRows chosen = named_rows(rows, support.labels, support.paths);
  chosen.features = Matrix<float>(rows.size(), support.features.cols());
  fetch_rows(support.cut, support.features.view(), rows, chosen.features.view());
  return chosen;
}

SupportRows collect_support(SupportRows support) {
  Team* const team = support.cut.team();
  if (team == nullptr) return support;
  const std::size_t cols = support.features.cols();
  const auto numbers = [cols](Matrix<float>& rows, Slice run) {
    return run.count == 0 ? std::span<float>{} : std::span<float>(rows.row(run.first).data(), run.count * cols);
  };
  if (team->rank() != 0) {
    team->hand_over(team->rank(), numbers(support.features, {0, support.features.rows()}));
    return {};
  }
  SupportRows all{Matrix<float>(support.rows(), cols), std::move(support.labels), std::move(support.paths)};
  std::copy_n(support.features.data(), support.features.rows() * cols, all.features.data());
  for (std::size_t rank = 1; rank < team->size(); ++rank) {
    team->hand_over(rank, numbers(all.features, support.cut.run(rank)));
  }
  return all;
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
