// Prototypes, subspace iteration, projection.
#include "annulus/eval/audit/class_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "annulus/base/random.h"
#include "annulus/eval/audit/label_audit.h"

namespace annulus {
namespace {

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void scale(Vector& vector) {
  const double length = std::sqrt(dot(vector, vector));
  if (length > 0.0) {
    for (double& value : vector) value /= length;
  }
}

// Means of the classes that have examples, centred.
struct CentredMeans {
  Matrix<double> means;
  std::vector<std::size_t> classes;  // of each row
  Vector centre;
};

CentredMeans centred_means(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes) {
  Matrix<double> sums(classes, rows.cols());
  std::vector<std::size_t> counts(classes, 0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    ++counts[label];
    for (std::size_t d = 0; d < rows.cols(); ++d) sums(label, d) += static_cast<double>(rows(i, d));
  }
  CentredMeans result;
  for (std::size_t c = 0; c < classes; ++c) {
    if (counts[c] > 0) result.classes.push_back(c);
  }
  result.means = Matrix<double>(result.classes.size(), rows.cols());
  Vector& centre = result.centre;
  centre.assign(rows.cols(), 0.0);
  for (std::size_t i = 0; i < result.classes.size(); ++i) {
    const std::size_t c = result.classes[i];
    for (std::size_t d = 0; d < rows.cols(); ++d) {
      result.means(i, d) = sums(c, d) / static_cast<double>(counts[c]);
      centre[d] += result.means(i, d) / static_cast<double>(result.classes.size());
    }
  }
  for (std::size_t i = 0; i < result.classes.size(); ++i) {
    for (std::size_t d = 0; d < rows.cols(); ++d) result.means(i, d) -= centre[d];
  }
  return result;
}

// The covariance of the means times a vector, up to a factor.
Vector spread_along(const Matrix<double>& means, const Vector& direction) {
  Vector result(direction.size(), 0.0);
  for (std::size_t i = 0; i < means.rows(); ++i) {
    const double along = dot(means.row(i), direction);
    for (std::size_t d = 0; d < result.size(); ++d) result[d] += along * means(i, d);
  }
  return result;
}

std::array<Vector, 2> principal_plane(const Matrix<double>& means) {
  constexpr int kIterations = 60;
  std::array<Vector, 2> plane;
  for (std::uint32_t k = 0; k < 2; ++k) {
    const RandomStream start{0, RandomUse::kSynthetic, k};
    plane[k].resize(means.cols());
    for (std::size_t d = 0; d < means.cols(); ++d) plane[k][d] = start.uniform(d) - 0.5;
    scale(plane[k]);
  }
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for (std::size_t k = 0; k < 2; ++k) {
      plane[k] = spread_along(means, plane[k]);
      if (k == 1) {
        const double shared = dot(plane[0], plane[1]);
        for (std::size_t d = 0; d < means.cols(); ++d) plane[1][d] -= shared * plane[0][d];
      }
      scale(plane[k]);
    }
  }
  // The sign of a direction is arbitrary: the largest entry is made positive.
  for (Vector& direction : plane) {
    const auto largest = std::max_element(direction.begin(), direction.end(),
                                          [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (largest == direction.end() || *largest >= 0.0) continue;
    for (double& value : direction) value = -value;
  }
  return plane;
}

}  // namespace

ClassMap class_map(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes) {
  ClassMap map;
  map.points.resize(classes);
  const CentredMeans centred = centred_means(rows, labels, classes);
  const auto plane = principal_plane(centred.means);
  double all = 0.0;
  double inside = 0.0;
  double farthest = 0.0;
  for (std::size_t i = 0; i < centred.classes.size(); ++i) {
    const auto mean = centred.means.row(i);
    const ClassMap::Point point{dot(mean, plane[0]), dot(mean, plane[1])};
    all += dot(mean, mean);
    inside += point.x * point.x + point.y * point.y;
    farthest = std::max({farthest, std::abs(point.x), std::abs(point.y)});
    map.points[centred.classes[i]] = point;
  }
  if (all > 0.0) map.shown = inside / all;
  const double unit = farthest > 0.0 ? 1.0 / farthest : 1.0;
  for (ClassMap::Point& point : map.points) point = {point.x * unit, point.y * unit};
  Vector row(rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t d = 0; d < row.size(); ++d) row[d] = static_cast<double>(rows(i, d)) - centred.centre[d];
    map.rows.push_back({dot(row, plane[0]) * unit, dot(row, plane[1]) * unit});
  }
  return map;
}

std::vector<ConfusedClasses> confused_pairs(std::span<const std::int32_t> labels, const LabelScores& scores,
                                            std::size_t most, std::size_t most_rows) {
  std::map<std::pair<std::int32_t, std::int32_t>, ConfusedClasses> found;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (scores.alone[i] != 0 || scores.other[i] < 0 || scores.recognised(i)) continue;
    ConfusedClasses& pair = found[{labels[i], scores.other[i]}];
    pair.label = labels[i];
    pair.taken_for = scores.other[i];
    ++pair.count;
    if (pair.rows.size() < most_rows) pair.rows.push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<ConfusedClasses> pairs;
  for (auto& [key, pair] : found) pairs.push_back(std::move(pair));
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const ConfusedClasses& a, const ConfusedClasses& b) { return a.count > b.count; });
  if (pairs.size() > most) pairs.resize(most);
  return pairs;
}

}  // namespace annulus
