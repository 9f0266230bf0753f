// Parts of scores, and scores.
#include "annulus/learn/unknown.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/prediction.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsBetweenReports = 1024;

}  // namespace

std::array<float, kUnknownParts> unknown_parts(std::span<const float> logits, float nearest_cosine, float closeness) {
  float largest = -std::numeric_limits<float>::infinity();
  float second = largest;
  double mean = 0.0;
  for (const float logit : logits) {
    second = std::max(second, std::min(largest, logit));
    largest = std::max(largest, logit);
    mean += static_cast<double>(logit) / static_cast<double>(logits.size());
  }
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  if (logits.size() == 1) second = largest;  // a head of one class has no runner-up
  const auto above_mean = [mean](double logit) { return static_cast<float>(logit - mean); };
  return {above_mean(static_cast<double>(largest)), above_mean(static_cast<double>(second)),
          above_mean(static_cast<double>(largest) + std::log(sum)), nearest_cosine, closeness};
}

std::vector<std::int32_t> named_classes(ConstMatrixView<float> logits) {
  std::vector<std::int32_t> classes;
  classes.reserve(logits.rows());
  for (std::size_t i = 0; i < logits.rows(); ++i) classes.push_back(static_cast<std::int32_t>(argmax(logits.row(i))));
  return classes;
}

float unknown_score(const UnknownRule& rule, const std::array<float, kUnknownParts>& parts) {
  double score = 0.0;
  for (std::size_t i = 0; i < kUnknownParts; ++i) {
    score += static_cast<double>(rule.weights[i]) * static_cast<double>(parts[i]);
  }
  return static_cast<float>(score);
}

float mean_weight(const UnknownRule& rule) {
  return -(rule.weights[kLargestLogit] + rule.weights[kRunnerUpLogit] + rule.weights[kLogSumExp]);
}

ConstMatrixView<float> axes_of(const UnknownRule& rule, std::size_t dimension) {
  return {rule.axes.data(), rule.axes.size() / dimension, dimension};
}

bool needs_nearest(const UnknownRule& rule) { return rule.weights[kNearestCosine] != 0.0F; }
bool needs_means(const UnknownRule& rule) { return rule.weights[kClassCloseness] != 0.0F; }
bool needs_support(const UnknownRule& rule) { return needs_nearest(rule) || needs_means(rule); }

std::vector<float> nearest_of_class(const Conditioning& conditioning, const SupportIndex& index,
                                    std::span<const std::int32_t> labels, ConstMatrixView<float> rows,
                                    std::span<const std::int32_t> classes, int threads,
                                    std::span<const std::size_t> without) {
  std::vector<std::vector<std::size_t>> of_class;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto c = static_cast<std::size_t>(labels[i]);
    if (c >= of_class.size()) of_class.resize(c + 1);
    of_class[c].push_back(i);
  }
  std::vector<float> found(rows.rows(), 0.0F);
  parallel_for(threads, rows.rows(), [&](std::size_t i) {
    const auto c = static_cast<std::size_t>(classes[i]);
    if (c >= of_class.size() || of_class[c].empty()) return;
    Matrix<float> row(1, rows.cols());
    std::copy(rows.row(i).begin(), rows.row(i).end(), row.row(0).begin());
    prepare_rows(conditioning, row.view(), i);
    const auto unit = std::as_const(row).row(0);
    double best = -1.0;
    for (const std::size_t other : of_class[c]) {
      if (!without.empty() && other == without[i]) continue;
      best = std::max(best, std::inner_product(unit.begin(), unit.end(), index.rows().row(other).begin(), 0.0));
    }
    found[i] = static_cast<float>(best);
  });
  return found;
}

void unknown_scores(const Model& model, const SupportIndex* index, ConstMatrixView<float> rows,
                    ConstMatrixView<float> logits, std::span<float> out, int threads) {
  std::vector<float> nearest(rows.rows(), 0.0F);
  std::vector<float> closeness(rows.rows(), 0.0F);
  if (index != nullptr && needs_support(model.unknown)) {
    const std::vector<std::int32_t> classes = named_classes(logits);
    if (needs_nearest(model.unknown)) {
      nearest = nearest_of_class(model.head.conditioning, *index, model.support.labels, rows, classes, threads);
    }
    if (needs_means(model.unknown)) {
      closeness = index->closeness(rows, classes, axes_of(model.unknown, rows.cols()), threads);
    }
  }
  std::vector<float> cooled(logits.cols());
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    std::copy(logits.row(i).begin(), logits.row(i).end(), cooled.begin());
    scale_row(std::span<float>(cooled), static_cast<float>(1.0 / model.temperature));
    out[i] = unknown_score(model.unknown, unknown_parts(cooled, nearest[i], closeness[i]));
  }
}

void unknown_scores(const Model& model, ConstMatrixView<float> rows, std::span<float> out, int threads,
                    const ProgressCallback& progress) {
  if (model.unknown.empty()) fail(ErrorKind::kInput, "expected a model that knows strangers, found one without a rule");
  if (needs_support(model.unknown) && model.support.empty()) {
    fail(ErrorKind::kInput, "expected a model that keeps its training rows to know strangers by, found none");
  }
  Matrix<float> logits(rows.rows(), model.head.classes());
  PreparedHead(model.head).logits(rows, logits.view(), threads, progress);
  std::optional<SupportIndex> index;
  if (needs_support(model.unknown)) index.emplace(model.head.conditioning, model.support, threads);
  for (std::size_t first = 0; first < rows.rows(); first += kRowsBetweenReports) {
    const std::size_t count = std::min(kRowsBetweenReports, rows.rows() - first);
    unknown_scores(model, index ? &*index : nullptr, rows.rows_at(first, count),
                   std::as_const(logits).view().rows_at(first, count), out.subspan(first, count), threads);
    report(progress, {"compare with training rows", first + count, rows.rows(), {}});
  }
}

}  // namespace annulus
