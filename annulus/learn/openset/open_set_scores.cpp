// Computes the parts of scores, and scores.
#include "annulus/learn/openset/open_set_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/model/prepared_head.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsBetweenReports = 1024;

}  // namespace

std::array<float, kUnknownParts> unknown_parts(std::span<const float> logits, const ClassNearness& nearness) {
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
  return {above_mean(static_cast<double>(largest)),
          above_mean(static_cast<double>(second)),
          above_mean(static_cast<double>(largest) + std::log(sum)),
          nearness.cosine,
          nearness.mean_closeness,
          nearness.row_closeness};
}

std::vector<std::int32_t> predicted_classes(ConstMatrixView<float> logits) {
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

bool needs_nearest(const UnknownRule& rule) {
  return rule.weights[kNearestCosine] != 0.0F || rule.weights[kNearestCloseness] != 0.0F;
}
bool needs_means(const UnknownRule& rule) { return rule.weights[kClassCloseness] != 0.0F; }
bool needs_support(const UnknownRule& rule) { return needs_nearest(rule) || needs_means(rule); }

SupportIndex rejection_index(const Model& model, int threads) {
  SupportIndex index(model.head.transform, model.support, threads);
  const ConstMatrixView<float> kept = axes_of(model.unknown, model.head.dimension());
  Matrix<float> axes(kept.rows(), kept.cols());
  std::copy(model.unknown.axes.begin(), model.unknown.axes.end(), axes.data());
  index.set_axes(std::move(axes), threads);
  return index;
}

void unknown_scores(const Model& model, const SupportIndex* index, ConstMatrixView<float> rows,
                    ConstMatrixView<float> logits, std::span<float> out, int threads) {
  std::vector<ClassNearness> nearness(rows.rows());
  if (index != nullptr && needs_support(model.unknown)) {
    nearness = index->near_class(rows, predicted_classes(logits), threads);
  }
  std::vector<float> cooled(logits.cols());
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    std::copy(logits.row(i).begin(), logits.row(i).end(), cooled.begin());
    scale_row(std::span<float>(cooled), static_cast<float>(1.0 / model.temperature));
    out[i] = unknown_score(model.unknown, unknown_parts(cooled, nearness[i]));
  }
}

void unknown_scores(const Model& model, ConstMatrixView<float> rows, std::span<float> out, int threads,
                    const ProgressCallback& progress) {
  if (model.unknown.empty())
    fail(ErrorKind::kInput, "expected a model that rejects unknown inputs, found one without a rule");
  if (needs_support(model.unknown) && model.support.empty()) {
    fail(ErrorKind::kInput,
         "expected a model that keeps its training examples to reject unknown inputs by, found none");
  }
  Matrix<float> logits(rows.rows(), model.head.classes());
  PreparedHead(model.head).logits(rows, logits.view(), threads, progress);
  std::optional<SupportIndex> index;
  if (needs_support(model.unknown)) index.emplace(rejection_index(model, threads));
  for (std::size_t first = 0; first < rows.rows(); first += kRowsBetweenReports) {
    const std::size_t count = std::min(kRowsBetweenReports, rows.rows() - first);
    unknown_scores(model, index ? &*index : nullptr, rows.rows_at(first, count),
                   std::as_const(logits).view().rows_at(first, count), out.subspan(first, count), threads);
    report(progress, {"compare with training examples", first + count, rows.rows(), {}});
  }
}

}  // namespace annulus
