// Parts of scores, and scores.
#include "annulus/learn/unknown.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/support_index.h"

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

void unknown_scores(const Model& model, ConstMatrixView<float> rows, std::span<float> out, int threads) {
  if (model.unknown.empty()) fail(ErrorKind::kInput, "expected a model that knows strangers, found one without a rule");
  const bool needs_support = model.unknown.weights[kNearestCosine] != 0.0F;
  if (needs_support && model.support.empty()) {
    fail(ErrorKind::kInput, "expected a model that keeps its training rows to know strangers by, found none");
  }
  Matrix<float> logits(rows.rows(), model.head.classes());
  predict_logits(model.head, rows, logits.view(), threads);
  std::vector<std::vector<NearRow>> near;
  if (needs_support) near = SupportIndex(model.head.conditioning, model.support).nearest(rows, 1, threads);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    scale_row(logits.row(i), static_cast<float>(1.0 / model.temperature));
    const float cosine = needs_support ? near[i].front().cosine : 0.0F;
    out[i] = unknown_score(model.unknown, unknown_parts(std::as_const(logits).row(i), cosine));
  }
}

}  // namespace annulus
