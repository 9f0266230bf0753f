// Parts of scores, and scores.
#include "annulus/learn/unknown.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/prediction.h"

namespace annulus {

std::array<float, kUnknownParts> unknown_parts(std::span<const float> logits, float nearest_cosine) {
  float largest = -std::numeric_limits<float>::infinity();
  float second = largest;
  for (const float logit : logits) {
    second = std::max(second, std::min(largest, logit));
    largest = std::max(largest, logit);
  }
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  // A head of one class has no runner-up.
  return {largest, logits.size() > 1 ? second : largest, largest + static_cast<float>(std::log(sum)), nearest_cosine};
}

float unknown_score(const UnknownRule& rule, const std::array<float, kUnknownParts>& parts) {
  double score = 0.0;
  for (std::size_t i = 0; i < kUnknownParts; ++i) {
    score += static_cast<double>(rule.weights[i]) * static_cast<double>(parts[i]);
  }
  return static_cast<float>(score);
}

bool needs_nearest(const UnknownRule& rule) { return rule.weights[kNearestCosine] != 0.0F; }

void unknown_scores(const Model& model, ConstMatrixView<float> logits, std::span<const std::vector<NearRow>> nearest,
                    std::span<float> out) {
  const bool by_cosine = needs_nearest(model.unknown);
  std::vector<float> cooled(logits.cols());
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    std::copy(logits.row(i).begin(), logits.row(i).end(), cooled.begin());
    scale_row(std::span<float>(cooled), static_cast<float>(1.0 / model.temperature));
    out[i] = unknown_score(model.unknown, unknown_parts(cooled, by_cosine ? nearest[i].front().cosine : 0.0F));
  }
}

void unknown_scores(const Model& model, ConstMatrixView<float> rows, std::span<float> out, int threads) {
  if (model.unknown.empty()) fail(ErrorKind::kInput, "expected a model that knows strangers, found one without a rule");
  if (needs_nearest(model.unknown) && model.support.empty()) {
    fail(ErrorKind::kInput, "expected a model that keeps its training rows to know strangers by, found none");
  }
  Matrix<float> logits(rows.rows(), model.head.classes());
  predict_logits(model.head, rows, logits.view(), threads);
  std::vector<std::vector<NearRow>> nearest;
  if (needs_nearest(model.unknown)) {
    nearest = SupportIndex(model.head.conditioning, model.support).nearest(rows, 1, threads);
  }
  unknown_scores(model, std::as_const(logits).view(), nearest, out);
}

}  // namespace annulus
