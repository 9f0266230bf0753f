// Power transform, normalisation and centring.
#include "annulus/learn/transform/feature_transform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"

namespace annulus {
namespace {

// Exponents for rows with and without heavy tails; docs/explanation/default-recipe.md has the measurements.
constexpr float kHeavyPower = 0.6F;
constexpr float kLightPower = 0.8F;
constexpr double kGaussianKurtosis = 3.0;  // fourth moment about the mean over the square of the second

void raise(std::span<float> row, float power) {
  for (float& value : row) value = std::copysign(std::pow(std::fabs(value), power), value);
}

// Scales a row to unit length; a row of zeros is left for others to reject.
void make_unit(std::span<float> row) {
  const float length = std::sqrt(squared_length(std::span<const float>(row)));
  if (length > 0.0F && std::isfinite(length)) scale_row(row, 1.0F / length);
}

bool has_negative(ConstMatrixView<float> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (const float value : rows.row(i)) {
      if (value < 0.0F) return true;
    }
  }
  return false;
}

bool any_negative(ConstMatrixView<float> rows, const Partition& partition) {
  double with_some = has_negative(rows) ? 1.0 : 0.0;  // processes
  partition.sum(std::span<double>(&with_some, 1));
  return with_some > 0.0;
}

double kurtosis(std::span<const float> row) {
  const auto count = static_cast<double>(row.size());
  double mean = 0.0;
  for (const float value : row) mean += static_cast<double>(value) / count;
  double second = 0.0;
  double fourth = 0.0;
  for (const float value : row) {
    const double square = std::pow(static_cast<double>(value) - mean, 2.0);
    second += square / count;
    fourth += square * square / count;
  }
  return second > 0.0 ? fourth / (second * second) : 0.0;
}

double weight_of(std::span<const float> weights, std::size_t row) {
  return weights.empty() ? 1.0 : static_cast<double>(weights[row]);
}

bool heavy_tailed(ConstMatrixView<float> rows, std::span<const float> weights, const Partition& partition) {
  std::array<double, 2> sums{};  // of kurtoses, of weights
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    sums[0] += weight_of(weights, i) * kurtosis(rows.row(i));
    sums[1] += weight_of(weights, i);
  }
  partition.sum(sums);
  return sums[0] > kGaussianKurtosis * sums[1];
}

}  // namespace

std::string_view to_string(TransformKind kind) {
  switch (kind) {
    case TransformKind::kNone:
      return "none";
    case TransformKind::kCentre:
      return "centre";
    case TransformKind::kAuto:
      break;
  }
  return "auto";
}

TransformKind transform_kind_from(std::string_view name) {
  for (const TransformKind kind : {TransformKind::kNone, TransformKind::kCentre, TransformKind::kAuto}) {
    if (name == to_string(kind)) return kind;
  }
  fail(ErrorKind::kUsage, "expected the transform none, centre or auto, found \"{}\"", name);
}

FeatureTransform learn_transform(ConstMatrixView<float> rows, TransformKind kind, std::span<const float> weights,
                                 const Partition& partition) {
  FeatureTransform result;
  if (kind == TransformKind::kNone) return result;
  if (kind == TransformKind::kAuto) {
    if (!any_negative(rows, partition))
      result.power = heavy_tailed(rows, weights, partition) ? kHeavyPower : kLightPower;
    return result;
  }
  std::vector<double> sums(rows.cols(), 0.0);
  double count = 0.0;
  std::vector<float> row(rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double weight = weight_of(weights, i);
    row.assign(rows.row(i).begin(), rows.row(i).end());
    make_unit(row);
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += weight * static_cast<double>(row[j]);
    count += weight;
  }
  partition.sum(sums);
  partition.sum(std::span<double>(&count, 1));
  result.centre.reserve(sums.size());
  for (const double sum : sums) result.centre.push_back(static_cast<float>(sum / count));
  return result;
}

void subtract_centre(std::span<const float> centre, std::span<float> row) {
  double squares = 0.0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const auto difference = static_cast<double>(row[j] - centre[j]);
    squares += difference * difference;
  }
  if (std::sqrt(squares) < static_cast<double>(kLeastCentredLength)) return;
  for (std::size_t j = 0; j < row.size(); ++j) row[j] -= centre[j];
}

void transform_rows(const FeatureTransform& transform, MatrixView<float> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    if (transform.power != 1.0F) raise(row, transform.power);
    if (transform.centre.empty()) continue;
    make_unit(row);
    subtract_centre(transform.centre, row);
  }
  for (const Metric& metric : transform.metrics) apply_metric(metric, rows, 1);
}

float checked_length(std::span<const float> row, std::size_t number) {
  const float length = std::sqrt(squared_length(row));
  if (!(length > 0.0F) || !std::isfinite(length)) {
    fail(ErrorKind::kInput, "expected feature rows with a length to normalise, found length {} at row {}", length,
         number);
  }
  return length;
}

}  // namespace annulus
