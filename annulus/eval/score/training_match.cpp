// Rows are compared by a hash of their bits.
#include "annulus/eval/score/training_match.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "annulus/kernels/half.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

std::size_t hash_of(std::span<const std::uint16_t> row) {
  const auto bytes = std::as_bytes(row);
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

TrainingMatch::TrainingMatch(const SupportSet& support)
    : scaled_(support.features.cols()), half_(support.features.cols()) {
  known_.reserve(support.features.rows());
  for (std::size_t i = 0; i < support.features.rows(); ++i) {
    narrow_half(support.features.row(i), half_);
    known_.insert(hash_of(half_));
  }
}

bool TrainingMatch::contains(std::span<const float> row) {
  if (row.size() != scaled_.size()) return false;
  const float length = std::sqrt(squared_length(row));
  if (!(length > 0.0F)) return false;
  std::copy(row.begin(), row.end(), scaled_.begin());
  scale_row(std::span(scaled_), 1.0F / length);
  narrow_half(scaled_, half_);
  return known_.contains(hash_of(half_));
}

}  // namespace annulus
