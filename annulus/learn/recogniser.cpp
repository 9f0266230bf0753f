// Logits once, from which everything else is said.
#include "annulus/learn/recogniser.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/unknown.h"

namespace annulus {

Recogniser::Recogniser(const Model& model, const RecogniserOptions& options)
    : model_(model),
      head_(model.head),
      options_(options),
      refuses_(options.false_reject > 0.0 && !model.unknown.empty()) {
  if (!(options.false_reject >= 0.0 && options.false_reject < 1.0)) {
    fail(ErrorKind::kUsage, "expected a share of false refusals from 0 to less than 1, found {}", options.false_reject);
  }
  if (options.explain && model.support.empty()) {
    fail(ErrorKind::kInput, "the model keeps none of its training rows to explain answers by: fit it without --strip");
  }
  if (refuses_) threshold_ = unknown_threshold(model.unknown, options.false_reject);
  if (options.explain || (refuses_ && needs_support(model.unknown))) {
    index_.emplace(stranger_index(model, options.threads));
  }
  if (options.explain) flip_.emplace(model, index_->rows());
}

std::vector<Answer> Recogniser::answer(ConstMatrixView<float> rows) const {
  // Logits first, which become the probabilities.
  Matrix<float> probabilities(rows.rows(), model_.head.classes());
  head_.logits(rows, probabilities.view(), options_.threads);
  const ConstMatrixView<float> logits = std::as_const(probabilities).view();
  std::vector<std::vector<NearRow>> nearest;
  if (flip_) nearest = index_->nearest(rows, kExplainedRows, options_.threads);
  std::vector<float> scores(refuses_ ? rows.rows() : 0);
  if (refuses_) unknown_scores(model_, index_ ? &*index_ : nullptr, rows, logits, scores, options_.threads);
  std::vector<float> radii;
  if (flip_) radii = flip_->radii(logits, options_.threads);
  to_probabilities(probabilities.view(), model_.temperature);

  std::vector<Answer> answers(rows.rows());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Answer& answer = answers[i];
    answer.top = most_probable(probabilities.row(i), std::max<std::size_t>(options_.top, flip_ ? 2 : 1));
    if (refuses_) {
      answer.unknown_score = scores[i];
      answer.refused = scores[i] < threshold_;
    }
    if (flip_) {
      const auto runner_up = answer.top.size() > 1 ? std::optional(answer.top[1]) : std::nullopt;
      answer.explanation = Explanation{std::move(nearest[i]), runner_up, radii[i]};
    }
    if (answer.top.size() > options_.top) answer.top.resize(options_.top);
  }
  return answers;
}

}  // namespace annulus
