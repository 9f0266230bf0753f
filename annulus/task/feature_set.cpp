// Checks the parts of a FeatureSet once, so that later code can rely on them.
#include "annulus/task/feature_set.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/half.h"

namespace annulus {
namespace {

void check_length(const char* what, std::size_t found, std::size_t rows, const std::string& source) {
  if (found != 0 && found != rows) {
    fail(ErrorKind::kInput, "{}: expected {} {}, one for each feature row, but found {}", source, rows, what, found);
  }
}

void check_row(std::span<const float> row, std::size_t index, const std::string& source) {
  bool all_zero = true;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (!std::isfinite(row[j])) {
      fail(ErrorKind::kInput, "{}: expected finite features, found {} at row {}, column {}", source,
           std::isnan(row[j]) ? "NaN" : "infinity", index, j);
    }
    all_zero = all_zero && row[j] == 0.0F;
  }
  if (all_zero) {
    fail(ErrorKind::kInput, "{}: row {} holds only zeros, which has no direction to normalise", source, index);
  }
}

void check_order(std::span<const std::uint64_t> order, std::size_t rows, const std::string& source) {
  const auto beyond = std::find_if(order.begin(), order.end(), [&](std::uint64_t place) { return place >= rows; });
  if (beyond != order.end()) {
    fail(ErrorKind::kInput, "{}: example {} is at row {}, beyond the {} rows of features", source,
         beyond - order.begin(), *beyond, rows);
  }
}

void check_labels(FeatureSetParts& parts) {
  std::int32_t largest = -1;
  for (std::size_t i = 0; i < parts.labels.size(); ++i) {
    if (parts.labels[i] < 0) {
      fail(ErrorKind::kInput, "{}: expected class indices of 0 or more, found {} at row {}", parts.source,
           parts.labels[i], i);
    }
    largest = std::max(largest, parts.labels[i]);
  }
  if (parts.class_names.empty()) {
    for (std::int32_t c = 0; c <= largest; ++c) parts.class_names.push_back(std::to_string(c));
  } else if (largest >= 0 && static_cast<std::size_t>(largest) >= parts.class_names.size()) {
    fail(ErrorKind::kInput, "{}: label {} is beyond the {} class names", parts.source, largest,
         parts.class_names.size());
  }
}

void check_groups(std::span<const std::int32_t> groups, const std::string& source) {
  const auto negative = std::find_if(groups.begin(), groups.end(), [](std::int32_t group) { return group < 0; });
  if (negative != groups.end()) {
    fail(ErrorKind::kInput, "{}: expected groups of 0 or more, found {} at row {}", source, *negative,
         negative - groups.begin());
  }
}

}  // namespace

FeatureSet::FeatureSet(FeatureSetParts parts) : parts_(std::move(parts)) {
  const bool half = parts_.features.data() == nullptr && parts_.half_features.data() != nullptr;
  rows_ = half ? parts_.half_features.rows() : parts_.features.rows();
  dimension_ = half ? parts_.half_features.cols() : parts_.features.cols();
  const std::string& source = parts_.source;
  check_order(parts_.order, rows_, source);
  if (!parts_.order.empty()) rows_ = parts_.order.size();
  if (rows_ == 0 || dimension_ == 0) {
    fail(ErrorKind::kInput, "{}: expected at least one feature row, found {} rows of {} dimensions", source, rows_,
         dimension_);
  }
  if (rows_ > std::numeric_limits<std::uint32_t>::max()) {
    fail(ErrorKind::kInput, "{}: {} examples are more than the supported {}", source, rows_,
         std::numeric_limits<std::uint32_t>::max());
  }
  check_length("labels", parts_.labels.size(), rows_, source);
  check_length("paths", parts_.paths.size(), rows_, source);
  check_length("is_train flags", parts_.is_train.size(), rows_, source);
  check_length("groups", parts_.groups.size(), rows_, source);
  check_groups(parts_.groups, source);
  check_labels(parts_);

  constexpr std::size_t kRowsPerTask = 1024;
  parallel_for(0, (rows_ + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
    Matrix<float> row(1, dimension_);
    const std::size_t end = std::min(rows_, (task + 1) * kRowsPerTask);
    for (std::size_t i = task * kRowsPerTask; i < end; ++i) {
      copy_rows(i, row.view());
      check_row(row.row(0), i, source);
    }
  });
}

void FeatureSet::copy_rows(std::size_t first, MatrixView<float> out) const {
  assert(first + out.rows() <= rows_ && out.cols() == dimension_);
  for (std::size_t i = 0; i < out.rows(); ++i) {
    if (parts_.features.data() != nullptr) {
      const auto row = parts_.features.row(place(first + i));
      std::copy(row.begin(), row.end(), out.row(i).begin());
    } else {
      widen_half(parts_.half_features.row(place(first + i)), out.row(i));
    }
  }
}

void FeatureSet::copy_rows(std::span<const std::uint32_t> indices, MatrixView<float> out) const {
  assert(indices.size() == out.rows());
  constexpr std::size_t kFew = 4096;
  if (indices.size() <= kFew) {
    for (std::size_t i = 0; i < indices.size(); ++i) copy_rows(indices[i], out.rows_at(i, 1));
    return;
  }
  // In the order of the file, which may be larger than memory.
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return place(indices[a]) < place(indices[b]); });
  for (const std::size_t i : order) copy_rows(indices[i], out.rows_at(i, 1));
}

std::vector<std::int32_t> FeatureSet::labels_of(std::span<const std::uint32_t> indices) const {
  std::vector<std::int32_t> labels(indices.size());
  std::transform(indices.begin(), indices.end(), labels.begin(), [&](std::uint32_t i) { return parts_.labels[i]; });
  return labels;
}

std::string content_checksum(const FeatureSet& set) {
  constexpr std::size_t kRowsAtATime = 256;
  Sha256 hash;
  const std::array<std::uint64_t, 3> sizes{set.rows(), set.dimension(), set.classes()};
  hash.update(std::as_bytes(std::span(sizes)));
  Matrix<float> block(std::min(kRowsAtATime, set.rows()), set.dimension());
  for (std::size_t first = 0; first < set.rows(); first += block.rows()) {
    const auto rows = block.view().rows_at(0, std::min(block.rows(), set.rows() - first));
    set.copy_rows(first, rows);
    hash.update(std::as_bytes(std::span(rows.data(), rows.rows() * rows.cols())));
  }
  hash.update(std::as_bytes(set.labels()));
  for (const std::string& name : set.class_names())
    hash.update(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  hash.update(std::as_bytes(set.is_train()));
  if (!set.groups().empty()) {
    constexpr std::string_view kMark = "groups";  // no is_train that is as long reads like this
    hash.update(std::as_bytes(std::span(kMark)));
    hash.update(std::as_bytes(set.groups()));
  }
  return hash.finish_hex();
}

std::vector<std::vector<std::uint32_t>> group_members(std::span<const std::int32_t> groups,
                                                      std::span<const std::uint32_t> rows) {
  std::vector<std::vector<std::uint32_t>> members;
  std::unordered_map<std::int32_t, std::size_t> place;
  for (const std::uint32_t row : rows) {
    const std::size_t next = members.size();
    const std::size_t number = groups.empty() ? next : place.try_emplace(groups[row], next).first->second;
    if (number == next) members.emplace_back();
    members[number].push_back(row);
  }
  return members;
}

FeatureSetParts parts_of(Matrix<float> features) {
  const auto owner = std::make_shared<Matrix<float>>(std::move(features));
  FeatureSetParts parts;
  parts.features = std::as_const(*owner).view();
  parts.owner = owner;
  return parts;
}

std::vector<std::string> paths_of(const FeatureSet& set, std::span<const std::uint32_t> rows) {
  std::vector<std::string> paths;
  if (set.paths().empty()) return paths;
  for (const std::uint32_t row : rows) paths.push_back(set.paths()[row]);
  return paths;
}

std::vector<std::int32_t> groups_of(const FeatureSet& set, std::span<const std::uint32_t> rows) {
  std::vector<std::int32_t> groups;
  if (set.groups().empty()) return groups;
  for (const std::uint32_t row : rows) groups.push_back(set.groups()[row]);
  return groups;
}

}  // namespace annulus
