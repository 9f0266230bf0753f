// Measures accuracy on random splits, fits a curve, and bootstraps classes and splits for the intervals.
#include "annulus/eval/audit/learning_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "annulus/base/random.h"
#include "annulus/kernels/gemm.h"
#include "annulus/task/feature_set.h"

namespace annulus {
namespace {

constexpr std::size_t kSplits = 10;
constexpr std::size_t kMostPoints = 8;
constexpr std::size_t kMostQueries = 5;  // query examples per class of a split
constexpr std::size_t kBootstraps = 400;
constexpr std::array<double, 5> kPowers{0.25, 0.5, 0.75, 1.0, 1.5};

using Groups = std::vector<std::vector<std::uint32_t>>;  // the examples of each
using ClassGroups = std::vector<Groups>;

// 1, 2, ... up to the size of the median class minus one, thinned to a few.
std::vector<std::size_t> shots_to_measure(std::size_t most) {
  std::vector<std::size_t> shots;
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(kMostPoints - 1);
    const auto value = static_cast<std::size_t>(std::lround(std::pow(static_cast<double>(most), fraction)));
    if (shots.empty() || value > shots.back()) shots.push_back(value);
  }
  return shots;
}

// Accuracy of each class, for one number of shots and one split.
std::vector<double> measure(ConstMatrixView<float> rows, const ClassGroups& members, std::size_t shots,
                            const RandomStream& stream, int threads) {
  const std::size_t classes = members.size();
  Matrix<float> means(classes, rows.cols());
  std::vector<std::uint32_t> queries;
  std::vector<std::size_t> truth;
  for (std::size_t c = 0; c < classes; ++c) {
    const auto order = random_permutation(stream, static_cast<std::uint32_t>(c), members[c].size());
    const std::size_t taken = std::min(shots, order.size() - 1);
    const auto mean = means.row(c);
    for (std::size_t k = 0; k < taken; ++k) {
      for (const std::uint32_t i : members[c][order[k]]) {
        const auto row = rows.row(i);
        for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += row[j];
      }
    }
    double squares = 0.0;
    for (const float value : mean) squares += static_cast<double>(value) * static_cast<double>(value);
    const auto scale = static_cast<float>(squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0);
    for (float& value : mean) value *= scale;
    for (std::size_t k = 0; k < std::min(kMostQueries, order.size() - taken); ++k) {
      const auto& group = members[c][order[order.size() - 1 - k]];
      queries.insert(queries.end(), group.begin(), group.end());
      truth.insert(truth.end(), group.size(), c);
    }
  }
  Matrix<float> query_rows(queries.size(), rows.cols());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    std::copy(rows.row(queries[i]).begin(), rows.row(queries[i]).end(), query_rows.row(i).begin());
  }
  Matrix<float> cosines(queries.size(), classes);
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, query_rows.view(), means.view(), 0.0F, cosines.view(), threads);
  std::vector<double> right(classes, 0.0);
  std::vector<double> count(classes, 0.0);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto cosine = cosines.row(i);
    const auto best = static_cast<std::size_t>(std::max_element(cosine.begin(), cosine.end()) - cosine.begin());
    count[truth[i]] += 1.0;
    if (best == truth[i]) right[truth[i]] += 1.0;
  }
  for (std::size_t c = 0; c < classes; ++c) right[c] /= count[c];
  return right;
}

struct FittedCurve {
  double floor = 0.0;
  double drop = 0.0;
  double power = 1.0;
  double residual = std::numeric_limits<double>::infinity();

  double accuracy(double shots) const { return 1.0 - std::min(1.0, floor + drop * std::pow(shots, -power)); }
};

// Least squares for floor and drop, both at least 0.
FittedCurve fit_power(std::span<const std::size_t> shots, std::span<const double> accuracy, double power) {
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (std::size_t p = 0; p < shots.size(); ++p) {
    const double x = std::pow(static_cast<double>(shots[p]), -power);
    const double y = 1.0 - accuracy[p];
    n += 1.0;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  FittedCurve curve;
  curve.power = power;
  const double determinant = n * sxx - sx * sx;
  curve.drop = determinant > 1e-12 ? (n * sxy - sx * sy) / determinant : 0.0;
  curve.floor = (sy - curve.drop * sx) / n;
  if (curve.drop < 0.0) {
    curve.drop = 0.0;
    curve.floor = sy / n;
  } else if (curve.floor < 0.0) {
    curve.floor = 0.0;
    curve.drop = sxy / sxx;
  }
  curve.residual = 0.0;
  for (std::size_t p = 0; p < shots.size(); ++p) {
    const double error = accuracy[p] - curve.accuracy(static_cast<double>(shots[p]));
    curve.residual += error * error;
  }
  return curve;
}

FittedCurve fit_curve(std::span<const std::size_t> shots, std::span<const double> accuracy,
                      std::optional<double> power) {
  if (power) return fit_power(shots, accuracy, *power);
  FittedCurve best;
  for (const double tried : kPowers) {
    const FittedCurve curve = fit_power(shots, accuracy, tried);
    if (curve.residual < best.residual) best = curve;
  }
  return best;
}

// Accuracies by point, split and class.
using Measured = std::vector<std::vector<std::vector<double>>>;

std::vector<double> mean_accuracies(const Measured& measured, std::span<const std::size_t> splits,
                                    std::span<const std::size_t> classes) {
  std::vector<double> means;
  for (const auto& point : measured) {
    double sum = 0.0;
    for (const std::size_t split : splits) {
      for (const std::size_t c : classes) sum += point[split][c];
    }
    means.push_back(sum / static_cast<double>(splits.size() * classes.size()));
  }
  return means;
}

ShotAccuracy with_interval(std::size_t shots, double accuracy, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double fraction) {
    return 100.0 * samples[static_cast<std::size_t>(fraction * static_cast<double>(samples.size() - 1))];
  };
  return {shots, 100.0 * accuracy, std::min(at(0.025), 100.0 * accuracy), std::max(at(0.975), 100.0 * accuracy)};
}

// Intervals from bootstrap samples of classes and splits, for the measured and then the predicted numbers of shots.
void add_intervals(const Measured& measured, std::span<const std::size_t> shots, std::size_t classes,
                   std::uint64_t seed, LearningCurve& curve) {
  std::vector<std::size_t> all_splits(kSplits), all_classes(classes);
  for (std::size_t i = 0; i < kSplits; ++i) all_splits[i] = i;
  for (std::size_t i = 0; i < classes; ++i) all_classes[i] = i;
  const std::vector<double> means = mean_accuracies(measured, all_splits, all_classes);
  const bool predict = shots.size() >= 2;
  const bool draw_power = shots.size() < 3;
  const FittedCurve fitted = fit_curve(shots, means, draw_power ? std::optional(0.5) : std::nullopt);
  const std::array<std::size_t, 3> wanted{curve.shots, curve.shots + 1, 2 * curve.shots};
  std::vector<std::vector<double>> samples(shots.size() + wanted.size());
  const RandomStream stream{seed, RandomUse::kAudit, 1U << 20};
  std::uint64_t index = 0;
  std::vector<std::size_t> some_splits(kSplits), some_classes(classes);
  for (std::size_t b = 0; b < kBootstraps; ++b) {
    for (std::size_t& split : some_splits) split = static_cast<std::size_t>(stream.below(index++, kSplits));
    for (std::size_t& c : some_classes) c = static_cast<std::size_t>(stream.below(index++, classes));
    const double power = kPowers[static_cast<std::size_t>(stream.below(index++, kPowers.size()))];
    const std::vector<double> again = mean_accuracies(measured, some_splits, some_classes);
    for (std::size_t p = 0; p < shots.size(); ++p) samples[p].push_back(again[p]);
    if (!predict) continue;
    const FittedCurve other = fit_curve(shots, again, draw_power ? std::optional(power) : std::nullopt);
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      samples[shots.size() + w].push_back(other.accuracy(static_cast<double>(wanted[w])));
    }
  }
  for (std::size_t p = 0; p < shots.size(); ++p) {
    curve.measured.push_back(with_interval(shots[p], means[p], std::move(samples[p])));
  }
  if (!predict) return;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    curve.predicted.push_back(with_interval(wanted[w], fitted.accuracy(static_cast<double>(wanted[w])),
                                            std::move(samples[shots.size() + w])));
  }
}

}  // namespace

LearningCurve learning_curve(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                             std::uint64_t seed, int threads, const ProgressCallback& progress,
                             std::span<const std::int32_t> groups) {
  std::vector<std::vector<std::uint32_t>> by_class(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    by_class[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::uint32_t>(i));
  }
  ClassGroups members;
  for (const auto& of_class : by_class) members.push_back(group_members(groups, of_class));
  std::erase_if(members, [](const auto& list) { return list.size() < 2; });
  LearningCurve curve;
  if (members.size() < 2) return curve;
  std::vector<std::size_t> sizes;
  for (const auto& list : members) sizes.push_back(list.size());
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
  curve.shots = sizes[sizes.size() / 2];
  const std::vector<std::size_t> shots = shots_to_measure(curve.shots - 1);
  Measured measured(shots.size());
  for (std::size_t p = 0; p < shots.size(); ++p) {
    for (std::uint32_t split = 0; split < kSplits; ++split) {
      report(progress, {"learning curve", p * kSplits + split, shots.size() * kSplits, {}});
      measured[p].push_back(measure(rows, members, shots[p], {seed, RandomUse::kAudit, 1000 + split}, threads));
    }
  }
  add_intervals(measured, shots, members.size(), seed, curve);
  return curve;
}

}  // namespace annulus
