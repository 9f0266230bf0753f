// Leave-one-out prototypes, and trials with planted label errors.
#include "annulus/eval/audit/label_audit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/base/random.h"
#include "annulus/eval/metrics/robust.h"
#include "annulus/kernels/gemm.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsPerBlock = 1024;
constexpr std::size_t kAuditedRowsPerTask = 64;
// Both were chosen with planted errors (docs/how-to/audit.md). An example is suspicious when it is far from its own
// class, and more so when another class is near; a near class alone is common between similar classes. It is less
// suspicious in a class whose examples vary widely.
constexpr double kOtherWeight = 0.6;
constexpr double kMatesWeight = 0.4;
constexpr std::uint32_t kTrials = 4;
constexpr int kReweightings = 3;

struct ClassSums {
  Matrix<double> sums;
  std::vector<double> lengths;
};

ClassSums sum_classes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes) {
  ClassSums result{Matrix<double>(classes, rows.cols()), std::vector<double>(classes)};
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto from = rows.row(i);
    const auto to = result.sums.row(static_cast<std::size_t>(labels[i]));
    for (std::size_t j = 0; j < from.size(); ++j) to[j] += static_cast<double>(from[j]);
  }
  for (std::size_t c = 0; c < classes; ++c) {
    const auto sum = result.sums.row(c);
    result.lengths[c] = std::sqrt(std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0));
  }
  return result;
}

// The cosine between a row and the sum of its class without that row, computed from the sum with it.
double own_without_row(double cosine, double length) {
  const double product = cosine * length;
  const double rest = length * length - 2.0 * product + 1.0;
  return rest <= 1e-12 ? 0.0 : (product - 1.0) / std::sqrt(rest);
}

// Replaces `own` and `alone` of examples that share their group with others of their class: the cosine to the sum of
// the class without all of them.
void leave_groups_out(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                      std::span<const std::int32_t> groups, const ClassSums& sums, int threads, LabelScores& scores) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < groups.size(); ++i) members[{labels[i], groups[i]}].push_back(i);
  std::erase_if(members, [](const auto& group) { return group.second.size() < 2; });
  std::vector<const std::vector<std::size_t>*> shared;
  for (const auto& [key, group] : members) shared.push_back(&group);
  parallel_for(threads, shared.size(), [&](std::size_t task) {
    const std::vector<std::size_t>& group = *shared[task];
    const auto label = static_cast<std::size_t>(labels[group.front()]);
    std::vector<double> rest(sums.sums.row(label).begin(), sums.sums.row(label).end());
    for (const std::size_t i : group) {
      const auto row = rows.row(i);
      for (std::size_t j = 0; j < rest.size(); ++j) rest[j] -= static_cast<double>(row[j]);
    }
    const double length = std::sqrt(std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0));
    for (const std::size_t i : group) {
      const auto row = rows.row(i);
      double product = 0.0;
      for (std::size_t j = 0; j < rest.size(); ++j) product += rest[j] * static_cast<double>(row[j]);
      scores.own[i] = length <= 1e-6 ? 0.0 : product / length;
      scores.alone[i] = scores.class_rows[label] == group.size() ? 1 : 0;
    }
  });
}

// The only example of a class gets the median value, because nothing is known about it.
void fill_in_alone(LabelScores& scores) {
  std::vector<double> known;
  for (std::size_t i = 0; i < scores.own.size(); ++i) {
    if (scores.alone[i] == 0) known.push_back(scores.own[i]);
  }
  const double typical = known.empty() ? 0.0 : median(std::move(known));
  for (std::size_t i = 0; i < scores.own.size(); ++i) {
    if (scores.alone[i] != 0) scores.own[i] = typical;
  }
}

void set_scores(std::span<const std::int32_t> labels, LabelScores& scores) {
  const std::size_t rows = labels.size();
  std::vector<double> plain(rows);
  std::vector<double> class_sums(scores.class_rows.size(), 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    plain[i] = scores.own[i] - (scores.other[i] < 0 ? 0.0 : kOtherWeight * scores.best[i]);
    class_sums[static_cast<std::size_t>(labels[i])] += plain[i];
  }
  const double typical = rows == 0 ? 0.0 : median(plain);
  scores.score.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const auto mates = static_cast<double>(scores.class_rows[label] - 1);
    scores.score[i] = plain[i] - kMatesWeight * (mates == 0.0 ? typical : (class_sums[label] - plain[i]) / mates);
  }
}

std::vector<std::uint32_t> ranking_of(const LabelScores& scores) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < scores.score.size(); ++i) {
    if (scores.alone[i] == 0 && scores.other[i] >= 0) order.push_back(static_cast<std::uint32_t>(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return scores.score[a] < scores.score[b]; });
  return order;
}

// P(wrong | score) = 1 / (1 + exp(-(offset + slope * z))), z the score on the scale of the data.
struct ErrorCurve {
  RobustScale scale;
  double offset = -3.0;
  double slope = 0.0;

  double probability(double score) const {
    return 1.0 / (1.0 + std::exp(-(offset + slope * scale.standardised(score))));
  }
};

struct TrialRow {
  std::uint32_t row = 0;
  std::uint32_t trial = 0;
  double score = 0.0;
  bool planted = false;
};

// Weighted logistic regression on one variable with Newton steps; a small penalty keeps separable data finite.
void fit_curve(std::span<const TrialRow> trials, std::span<const double> weights, ErrorCurve& curve) {
  constexpr int kSteps = 40;
  constexpr double kPenalty = 0.5;
  double offset = -3.0;
  double slope = -1.0;
  for (int step = 0; step < kSteps; ++step) {
    double g0 = 0.0, g1 = -kPenalty * slope, h00 = 1e-6, h01 = 0.0, h11 = kPenalty;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      const double z = curve.scale.standardised(trials[t].score);
      const double p = 1.0 / (1.0 + std::exp(-(offset + slope * z)));
      const double weight = trials[t].planted ? 1.0 : weights[trials[t].row];
      const double error = weight * ((trials[t].planted ? 1.0 : 0.0) - p);
      const double curvature = weight * p * (1.0 - p);
      g0 += error;
      g1 += error * z;
      h00 += curvature;
      h01 += curvature * z;
      h11 += curvature * z * z;
    }
    const double determinant = h00 * h11 - h01 * h01;
    if (!(determinant > 0.0)) break;
    const double step0 = (h11 * g0 - h01 * g1) / determinant;
    const double step1 = (h00 * g1 - h01 * g0) / determinant;
    const double size = std::max(1.0, std::max(std::abs(step0), std::abs(step1)));
    offset += step0 / size;
    slope = std::min(0.0, slope + step1 / size);
    if (std::abs(step0) + std::abs(step1) < 1e-9) break;
  }
  curve.offset = offset;
  curve.slope = slope;
}

// Labels with planted errors: each changes to another class that has examples, chosen uniformly.
std::vector<std::int32_t> plant_errors(std::span<const std::int32_t> labels, std::span<const std::int32_t> used,
                                       const RandomStream& stream, std::vector<std::uint8_t>& planted) {
  std::vector<std::int32_t> result(labels.begin(), labels.end());
  planted.assign(labels.size(), 0);
  const auto count = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(kPlantedFraction * static_cast<double>(labels.size()))));
  const auto order = random_permutation(stream, 0, labels.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t row = order[k];
    auto index = static_cast<std::size_t>(stream.below((std::uint64_t{1} << 32) + k, used.size() - 1));
    if (used[index] >= labels[row]) ++index;
    result[row] = used[index];
    planted[row] = 1;
  }
  return result;
}

std::vector<std::int32_t> used_classes(const LabelScores& scores) {
  std::vector<std::int32_t> used;
  for (std::size_t c = 0; c < scores.class_rows.size(); ++c) {
    if (scores.class_rows[c] != 0) used.push_back(static_cast<std::int32_t>(c));
  }
  return used;
}

// The probability of an error as a function of the score. Labels that are wrong already look like planted errors and
// would bias the fit: they are weighted by the probability that they are right, which is found by iteration.
ErrorCurve learn_curve(std::span<const TrialRow> trials, const LabelScores& scores) {
  ErrorCurve curve{robust_scale(scores.score)};
  std::vector<double> weights(scores.score.size(), 1.0);
  for (int round = 0; round < kReweightings; ++round) {
    fit_curve(trials, weights, curve);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1.0 - curve.probability(scores.score[i]);
  }
  return curve;
}

// Planted errors among the first `planted` examples of each trial. Examples whose label is probably wrong already rank
// high for good reason and are skipped. The trials are concatenated, each in the order of its ranking.
std::size_t count_found(std::span<const TrialRow> trials, const LabelScores& scores, const ErrorCurve& curve,
                        std::size_t planted) {
  std::size_t found = 0;
  std::size_t place = 0;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    if (t == 0 || trials[t].trial != trials[t - 1].trial) place = 0;
    if (!trials[t].planted && curve.probability(scores.score[trials[t].row]) >= 0.5) continue;
    if (place++ < planted && trials[t].planted) ++found;
  }
  return found;
}

}  // namespace

LabelScores score_labels(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                         int threads, std::span<const std::int32_t> groups) {
  LabelScores scores;
  scores.class_rows.assign(classes, 0);
  for (const std::int32_t label : labels) ++scores.class_rows[static_cast<std::size_t>(label)];
  const ClassSums sums = sum_classes(rows, labels, classes);
  scores.directions = Matrix<float>(classes, rows.cols());
  for (std::size_t c = 0; c < classes; ++c) {
    if (sums.lengths[c] <= 0.0) continue;
    std::transform(sums.sums.row(c).begin(), sums.sums.row(c).end(), scores.directions.row(c).begin(),
                   [&](double value) { return static_cast<float>(value / sums.lengths[c]); });
  }
  scores.own.resize(rows.rows());
  scores.best.assign(rows.rows(), -1.0);
  scores.other.assign(rows.rows(), -1);
  scores.alone.assign(rows.rows(), 0);
  Matrix<float> cosines(std::min(kRowsPerBlock, rows.rows()), classes);
  for (std::size_t first = 0; first < rows.rows(); first += kRowsPerBlock) {
    const std::size_t count = std::min(kRowsPerBlock, rows.rows() - first);
    const auto block = cosines.view().rows_at(0, count);
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows.rows_at(first, count), scores.directions.view(), 0.0F, block,
         threads);
    parallel_for(threads, (count + kAuditedRowsPerTask - 1) / kAuditedRowsPerTask, [&](std::size_t task) {
      for (std::size_t k = task * kAuditedRowsPerTask; k < std::min(count, (task + 1) * kAuditedRowsPerTask); ++k) {
        const std::size_t i = first + k;
        const auto label = static_cast<std::size_t>(labels[i]);
        const auto cosine = block.row(k);
        scores.alone[i] = scores.class_rows[label] == 1 ? 1 : 0;
        scores.own[i] = own_without_row(static_cast<double>(cosine[label]), sums.lengths[label]);
        for (std::size_t c = 0; c < classes; ++c) {
          if (c == label || scores.class_rows[c] == 0) continue;
          const auto value = static_cast<double>(cosine[c]);
          if (scores.other[i] >= 0 && value <= scores.best[i]) continue;
          scores.best[i] = value;
          scores.other[i] = static_cast<std::int32_t>(c);
        }
      }
    });
  }
  leave_groups_out(rows, labels, groups, sums, threads, scores);
  fill_in_alone(scores);
  set_scores(labels, scores);
  return scores;
}

LabelAudit audit_labels(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, const LabelScores& scores,
                        std::uint64_t seed, int threads, const ProgressCallback& progress,
                        std::span<const std::int32_t> groups) {
  LabelAudit audit;
  const std::vector<std::int32_t> used = used_classes(scores);
  const std::vector<std::uint32_t> order = ranking_of(scores);
  if (used.size() < 2 || order.empty()) return audit;
  std::vector<TrialRow> trials;
  std::vector<std::uint8_t> planted;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    report(progress, {"plant wrong labels", trial, kTrials, {}});
    const auto wrong = plant_errors(labels, used, {seed, RandomUse::kAudit, trial}, planted);
    const LabelScores trial_scores = score_labels(rows, wrong, scores.class_rows.size(), threads, groups);
    const auto trial_order = ranking_of(trial_scores);
    const auto count = static_cast<std::size_t>(std::count(planted.begin(), planted.end(), std::uint8_t{1}));
    audit.planted += count;
    for (const std::uint32_t row : trial_order) {
      trials.push_back({row, trial, trial_scores.score[row], planted[row] != 0});
    }
  }
  const ErrorCurve curve = learn_curve(trials, scores);
  audit.planted_recall = static_cast<double>(count_found(trials, scores, curve, audit.planted / kTrials)) /
                         static_cast<double>(audit.planted);
  for (const std::uint32_t row : order) {
    audit.ranked.push_back({row, scores.other[row], scores.score[row], curve.probability(scores.score[row])});
  }
  return audit;
}

}  // namespace annulus
