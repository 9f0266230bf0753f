// Folds, the temperature and the rule about strangers.
#include "annulus/learn/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/support_index.h"
#include "annulus/learn/unknown.h"

namespace annulus {
namespace {

constexpr std::uint32_t kFoldStream = 0xF01D;  // an order that no training uses
constexpr std::size_t kEnoughHeldOut = 1000;   // rows: their 5 % quantile is within about 0.7 points of that of all
constexpr double kPriorDeviation = 0.5;        // of log(temperature)
constexpr double kColdest = 0.02;
constexpr double kHottest = 50.0;

// The fold in which each row is held out. Rows of classes with a single row are in none (`turns`), nor are those of the
// folds from there on.
std::vector<std::size_t> cut_folds(const SupportRows& support, std::span<const std::size_t> counts, std::size_t folds,
                                   std::size_t turns, std::uint64_t seed) {
  const RandomStream stream{seed, RandomUse::kShuffle, kFoldStream};
  std::vector<std::size_t> next(counts.size());
  std::iota(next.begin(), next.end(), std::size_t{0});  // classes start in different folds, so that these are even
  std::vector<std::size_t> fold(support.rows(), turns);
  for (const std::uint32_t row : random_permutation(stream, 0, support.rows())) {
    const auto label = static_cast<std::size_t>(support.labels[row]);
    if (counts[label] < 2) continue;
    const std::size_t number = next[label]++ % folds;
    if (number < turns) fold[row] = number;
  }
  return fold;
}

LabelledRows rows_outside(const SupportRows& support, std::span<const float> weights, std::span<const std::size_t> fold,
                          std::size_t held_out, std::size_t classes) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (fold[i] != held_out) kept.push_back(i);
  }
  LabelledRows rows{Matrix<float>(kept.size(), support.features.cols()), {}, classes};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto source = support.features.row(kept[i]);
    std::copy(source.begin(), source.end(), rows.features.row(i).begin());
    rows.labels.push_back(support.labels[kept[i]]);
    if (!weights.empty()) rows.weights.push_back(weights[kept[i]]);
  }
  return rows;
}

// The rows held out, in ascending order, and what heads that never saw them say.
struct HeldOut {
  std::vector<std::size_t> rows;
  std::vector<std::int32_t> labels;
  std::vector<float> weights;  // 1 on average; none where all count the same
  Matrix<float> features;
  Matrix<float> logits;
};

// Scales weights to a mean of 1.
void make_mean_one(std::vector<float>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (float& weight : weights) {
    weight = static_cast<float>(static_cast<double>(weight) * static_cast<double>(weights.size()) / sum);
  }
}

HeldOut hold_out(const SupportRows& support, std::span<const float> weights, std::span<const std::size_t> fold,
                 std::size_t turns, std::size_t classes, const Recipe& recipe, Refit& refit,
                 const ProgressCallback& progress) {
  HeldOut held;
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (fold[i] == turns) continue;
    held.rows.push_back(i);
    held.labels.push_back(support.labels[i]);
    if (!weights.empty()) held.weights.push_back(weights[i]);
  }
  make_mean_one(held.weights);
  held.features = Matrix<float>(held.rows.size(), support.features.cols());
  held.logits = Matrix<float>(held.rows.size(), classes);
  for (std::size_t f = 0; f < turns; ++f) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < held.rows.size(); ++i) {
      if (fold[held.rows[i]] == f) places.push_back(i);
    }
    if (places.empty()) continue;
    const ProgressCallback inner = !progress ? progress : [&progress, f, turns](const Progress& training) {
      return progress({"calibrate", f * training.total + training.done, turns * training.total, training.detail});
    };
    const FitResult fit = refit(rows_outside(support, weights, fold, f, classes), recipe, inner);
    Matrix<float> features(places.size(), support.features.cols());
    Matrix<float> logits(places.size(), classes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto source = support.features.row(held.rows[places[i]]);
      std::copy(source.begin(), source.end(), features.row(i).begin());
      std::copy(source.begin(), source.end(), held.features.row(places[i]).begin());
    }
    predict_logits(fit.head, std::as_const(features).view(), logits.view(), recipe.final_training.threads);
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::copy(logits.row(i).begin(), logits.row(i).end(), held.logits.row(places[i]).begin());
    }
  }
  return held;
}

// The share of the rows' variance that is between classes: how much two rows of a class have in common.
double share_between_classes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                             std::span<const std::size_t> counts) {
  Matrix<float> sums(counts.size() + 1, rows.cols());  // of each class, and of all
  double squares = 0.0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    squares += static_cast<double>(squared_length(rows.row(i)));
    add_row(rows.row(i), sums.row(static_cast<std::size_t>(labels[i])));
    add_row(rows.row(i), sums.row(counts.size()));
  }
  double between = 0.0;
  double freedom = 0.0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    const auto count = static_cast<double>(counts[c]);
    between += static_cast<double>(squared_length(std::as_const(sums).row(c))) / count;
    freedom += count - 1.0;
  }
  const auto all = static_cast<double>(labels.size());
  const double total =
      (squares - static_cast<double>(squared_length(std::as_const(sums).row(counts.size()))) / all) / (all - 1.0);
  const double within = (squares - between) / freedom;
  return total > 0.0 ? std::clamp(1.0 - within / total, 0.01, 1.0) : 1.0;
}

double deviation(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1.0));
}

std::vector<float> quantiles_of(std::vector<float> scores) {
  std::sort(scores.begin(), scores.end());
  std::vector<float> quantiles;
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) {
    const double place = static_cast<double>(i * (scores.size() - 1)) / static_cast<double>(kUnknownQuantiles - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(place), scores.size() - 2);
    const auto part = static_cast<float>(place - static_cast<double>(below));
    quantiles.push_back(scores[below] + part * (scores[below + 1] - scores[below]));
  }
  // Rounding may turn equal neighbours round.
  for (std::size_t i = 1; i < quantiles.size(); ++i) quantiles[i] = std::max(quantiles[i], quantiles[i - 1]);
  return quantiles;
}

// 1 / spread, or 0 for numbers that do not differ.
float unit_weight(double spread) { return spread > 1e-6 ? static_cast<float>(1.0 / spread) : 0.0F; }

// The logarithm of the largest probability and half the nearest cosine, each in units of its spread among known things:
// what docs/unknown.md compares with others.
void weigh(const std::vector<std::array<float, kUnknownParts>>& parts, UnknownRule& rule) {
  std::vector<double> confidences;
  std::vector<double> cosines;
  for (const auto& row : parts) {
    confidences.push_back(static_cast<double>(row[kLargestLogit] - row[kLogSumExp]));
    cosines.push_back(static_cast<double>(row[kNearestCosine]));
  }
  rule.weights[kLargestLogit] = unit_weight(deviation(confidences));
  rule.weights[kLogSumExp] = -rule.weights[kLargestLogit];
  rule.weights[kNearestCosine] = 0.5F * unit_weight(deviation(cosines));
}

UnknownRule learn_rule(const SupportRows& support, const HeldOut& held, const FitResult& fit,
                       std::span<const std::size_t> counts, std::size_t turns, double temperature, int threads) {
  UnknownRule rule;
  if (held.rows.size() < kLeastHeldOut) return rule;
  const SupportIndex index(fit.head.conditioning, support);
  const auto near = index.nearest(std::as_const(held.features).view(), 1, threads, held.rows);
  const double rho = share_between_classes(index.rows(), support.labels, counts);
  const double shots = static_cast<double>(support.rows()) / static_cast<double>(counts.size());
  const double fewer = shots - static_cast<double>(held.rows.size()) / static_cast<double>(turns * counts.size());
  // Heads that were trained on fewer rows have smaller logits than the one that will be asked. Half of that (the root
  // of the factor): the rows of low scores, which thresholds are about, gain less than others.
  const double growth = std::sqrt(logit_growth(rho, fewer, shots));
  std::vector<std::array<float, kUnknownParts>> parts;
  for (std::size_t i = 0; i < held.rows.size(); ++i) {
    std::vector<float> logits(held.logits.row(i).begin(), held.logits.row(i).end());
    scale_row(std::span<float>(logits), static_cast<float>(growth / temperature));
    parts.push_back(unknown_parts(logits, near[i].front().cosine));
  }
  weigh(parts, rule);
  std::vector<float> scores;
  scores.reserve(parts.size());
  for (const auto& row : parts) scores.push_back(unknown_score(rule, row));
  rule.quantiles = quantiles_of(std::move(scores));
  return rule;
}

double penalised_loss(ConstMatrixView<float> logits, std::span<const std::int32_t> labels,
                      std::span<const float> weights, double log_temperature, int threads) {
  constexpr std::size_t kBlockRows = 64;
  const double cold = std::exp(-log_temperature);
  std::vector<double> losses((logits.rows() + kBlockRows - 1) / kBlockRows, 0.0);
  parallel_for(threads, losses.size(), [&](std::size_t block) {
    const std::size_t end = std::min((block + 1) * kBlockRows, logits.rows());
    for (std::size_t i = block * kBlockRows; i < end; ++i) {
      const auto row = logits.row(i);
      const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
      double sum = 0.0;
      for (const float logit : row) sum += std::exp(cold * (static_cast<double>(logit) - largest));
      const auto own = static_cast<double>(row[static_cast<std::size_t>(labels[i])]);
      const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i]);
      losses[block] += weight * (std::log(sum) - cold * (own - largest));
    }
  });
  return std::accumulate(losses.begin(), losses.end(),
                         log_temperature * log_temperature / (2.0 * kPriorDeviation * kPriorDeviation));
}

}  // namespace

double best_temperature(ConstMatrixView<float> logits, std::span<const std::int32_t> labels, int threads,
                        std::span<const float> weights) {
  if (labels.empty()) return 1.0;
  // Golden sections: the loss is convex in 1 / t, so it has one valley in log t, and the penalty is flat beside it.
  const double ratio = (std::sqrt(5.0) - 1.0) / 2.0;
  double low = std::log(kColdest);
  double high = std::log(kHottest);
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  const auto loss = [&](double log_temperature) {
    return penalised_loss(logits, labels, weights, log_temperature, threads);
  };
  double left_loss = loss(left);
  double right_loss = loss(right);
  while (high - low > 1e-3) {
    if (left_loss <= right_loss) {
      high = right;
      right = left;
      right_loss = left_loss;
      left = high - ratio * (high - low);
      left_loss = loss(left);
    } else {
      low = left;
      left = right;
      left_loss = right_loss;
      right = low + ratio * (high - low);
      right_loss = loss(right);
    }
  }
  return std::exp((low + high) / 2.0);
}

HeldOutQuality quality_of(const Calibration& calibration) {
  constexpr std::size_t kBins = 15;
  std::array<double, kBins> gaps{};  // confidence less hits
  HeldOutQuality quality{calibration.labels.size(), 0.0, 0.0};
  const auto rows = static_cast<double>(quality.rows);
  for (std::size_t i = 0; i < quality.rows; ++i) {
    const auto row = calibration.probabilities.row(i);
    const auto best = std::max_element(row.begin(), row.end());
    const bool right = best - row.begin() == calibration.labels[i];
    const auto confidence = static_cast<double>(*best);
    gaps[std::min(kBins - 1, static_cast<std::size_t>(confidence * kBins))] += confidence - (right ? 1.0 : 0.0);
    if (right) quality.accuracy += 1.0 / rows;
  }
  for (const double gap : gaps) quality.calibration_error += std::fabs(gap) / std::max(rows, 1.0);
  return quality;
}

double logit_growth(double rho, double fewer, double shots) {
  const auto reached = [rho](double k) { return k * rho / (1.0 + (k - 1.0) * rho); };
  return reached(shots) / reached(fewer);
}

Calibration calibrate(const SupportRows& support, const FitResult& fit, const Recipe& recipe, Refit& refit,
                      const ProgressCallback& progress, std::span<const float> weights) {
  const std::size_t classes = fit.head.classes();
  const std::vector<std::size_t> counts = class_counts(support.labels, classes);
  const std::size_t folds = std::min<std::size_t>(3, *std::max_element(counts.begin(), counts.end()));
  Calibration result;
  if (folds < 2) {
    if (recipe.name == "default" && fit.epsilon > 0.0) result.temperature = kOneRowTemperature;
    return result;
  }
  Recipe at_radius = recipe;
  at_radius.epsilon = fit.epsilon;
  const std::size_t turns = std::min(folds, (folds * kEnoughHeldOut + support.rows() - 1) / support.rows());
  const std::vector<std::size_t> fold = cut_folds(support, counts, folds, turns, recipe.final_training.seed);
  HeldOut held = hold_out(support, weights, fold, turns, classes, at_radius, refit, progress);
  result.temperature =
      best_temperature(std::as_const(held.logits).view(), held.labels, recipe.final_training.threads, held.weights);
  result.unknown = learn_rule(support, held, fit, counts, turns, result.temperature, recipe.final_training.threads);
  to_probabilities(held.logits.view(), result.temperature);
  result.probabilities = std::move(held.logits);
  result.labels = std::move(held.labels);
  return result;
}

}  // namespace annulus
