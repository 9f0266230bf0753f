// Square roots, lengths and centres.
#include "annulus/learn/conditioning.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

constexpr float kLeastLength = 1e-4F;  // of a centred row: shorter ones are rounding errors

void take_roots(std::span<float> row) {
  for (float& value : row) value = std::copysign(std::sqrt(std::fabs(value)), value);
}

// Scales a row to length 1; one that has no length is left for others to refuse.
void make_unit(std::span<float> row) {
  const float length = std::sqrt(squared_length(std::span<const float>(row)));
  if (length > 0.0F && std::isfinite(length)) scale_row(row, 1.0F / length);
}

bool any_negative(ConstMatrixView<float> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (const float value : rows.row(i)) {
      if (value < 0.0F) return true;
    }
  }
  return false;
}

}  // namespace

std::string_view to_string(ConditioningKind kind) {
  switch (kind) {
    case ConditioningKind::kNone:
      return "none";
    case ConditioningKind::kCentre:
      return "centre";
    case ConditioningKind::kAuto:
      break;
  }
  return "auto";
}

ConditioningKind conditioning_kind_from(std::string_view name) {
  for (const ConditioningKind kind : {ConditioningKind::kNone, ConditioningKind::kCentre, ConditioningKind::kAuto}) {
    if (name == to_string(kind)) return kind;
  }
  fail(ErrorKind::kUsage, "expected the conditioning none, centre or auto, found \"{}\"", name);
}

Conditioning learn_conditioning(ConstMatrixView<float> rows, ConditioningKind kind) {
  Conditioning result;
  if (kind == ConditioningKind::kNone) return result;
  result.root = kind == ConditioningKind::kAuto && !any_negative(rows);
  std::vector<double> sums(rows.cols(), 0.0);
  std::vector<float> row(rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    row.assign(rows.row(i).begin(), rows.row(i).end());
    if (result.root) take_roots(row);
    make_unit(row);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += static_cast<double>(row[j]);
  }
  result.centre.reserve(sums.size());
  for (const double sum : sums) result.centre.push_back(static_cast<float>(sum / static_cast<double>(rows.rows())));
  return result;
}

void condition_rows(const Conditioning& conditioning, MatrixView<float> rows) {
  std::vector<float> centred(conditioning.centre.size());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    if (conditioning.root) take_roots(row);
    if (conditioning.centre.empty()) continue;
    make_unit(row);
    for (std::size_t j = 0; j < centred.size(); ++j) centred[j] = row[j] - conditioning.centre[j];
    if (std::sqrt(squared_length(std::span<const float>(centred))) < kLeastLength) continue;
    std::copy(centred.begin(), centred.end(), row.begin());
  }
}

}  // namespace annulus
