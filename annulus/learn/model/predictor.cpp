// Logits once, from which the ranking, the unknown score and the explanation follow.
#include "annulus/learn/model/predictor.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/row_range.h"
#include "annulus/learn/openset/open_set_scores.h"

namespace annulus {
namespace {

constexpr std::size_t kExamplesPerBlock = 1024;

// The rows, or a copy of them in `scaled` where some are too long or too short to be squared.
ConstMatrixView<float> in_range(ConstMatrixView<float> rows, Matrix<float>& scaled) {
  bool all = true;
  for (std::size_t i = 0; i < rows.rows() && all; ++i) all = is_in_range(rows.row(i));
  if (all) return rows;
  scaled = Matrix<float>(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::copy(rows.row(i).begin(), rows.row(i).end(), scaled.row(i).begin());
    bring_into_range(scaled.row(i));
  }
  return std::as_const(scaled).view();
}

}  // namespace

void check_false_reject(double rate) {
  if (!(rate >= 0.0 && rate < 1.0)) {
    fail_field(ErrorKind::kUsage, "false_reject", "expected {} to be a rate from 0 to less than 1, found {}", rate);
  }
}

void check_sure(double sure) {
  if (!(sure >= 0.0 && sure <= 1.0)) {
    fail_field(ErrorKind::kUsage, "sure", "expected {} to be a probability from 0 to 1, found {}", sure);
  }
}

Predictor::Predictor(const Model& model, const PredictorOptions& options)
    : model_(model),
      head_(model.head),
      options_(options),
      tree_(tree_of(model)),
      rejects_(options.false_reject > 0.0 && !model.unknown.empty()) {
  check_false_reject(options.false_reject);
  check_sure(options.sure);
  if (options.explain && model.support.empty()) {
    fail(ErrorKind::kInput,
         "expected a model with its training examples to explain predictions by, found one without: fit it again and "
         "keep them");
  }
  if (rejects_) threshold_ = unknown_threshold(model.unknown, options.false_reject);
  if (options.explain || (rejects_ && needs_support(model.unknown))) {
    index_.emplace(rejection_index(model, options.threads));
  }
  if (options.explain) boundary_.emplace(model, index_->rows());
}

void name_answer(std::span<const float> probabilities, std::span<const std::string> class_names, const ClassTree& tree,
                 double sure, Prediction& prediction) {
  const RankedClass& best = prediction.top.front();
  prediction.label = class_names[static_cast<std::size_t>(best.index)];
  prediction.probability = best.probability;
  if (!tree.empty() && sure > 0.0) {
    prediction.lineage = tree.lineage(probabilities);
    prediction.level = sure_level(prediction.lineage, sure);
    const RankedNode& answer = prediction.lineage[prediction.level];
    prediction.label = tree.names()[static_cast<std::size_t>(answer.index)];
    prediction.probability = answer.probability;
  }
  if (prediction.rejected) prediction.label = kUnknownLabel;
}

std::vector<Prediction> Predictor::predict(ConstMatrixView<float> given) const {
  Matrix<float> scaled;
  const ConstMatrixView<float> rows = in_range(given, scaled);
  // Logits first, which become the probabilities.
  Matrix<float> probabilities(rows.rows(), model_.head.classes());
  head_.logits(rows, probabilities.view(), options_.threads);
  const ConstMatrixView<float> logits = std::as_const(probabilities).view();
  std::vector<std::vector<NearExample>> nearest;
  if (boundary_) nearest = index_->nearest(rows, kExplainedExamples, options_.threads);
  std::vector<float> scores(rejects_ ? rows.rows() : 0);
  if (rejects_) unknown_scores(model_, index_ ? &*index_ : nullptr, rows, logits, scores, options_.threads);
  std::vector<float> radii;
  if (boundary_) radii = boundary_->radii(logits, options_.threads);
  to_probabilities(probabilities.view(), model_.temperature);

  std::vector<Prediction> predictions(rows.rows());
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    Prediction& prediction = predictions[i];
    prediction.top = most_probable(probabilities.row(i), std::max<std::size_t>(options_.top, boundary_ ? 2 : 1));
    if (rejects_) {
      prediction.unknown_score = scores[i];
      prediction.rejected = scores[i] < threshold_;
    }
    name_answer(probabilities.row(i), model_.class_names, tree_, options_.sure, prediction);
    if (boundary_) {
      const auto runner_up = prediction.top.size() > 1 ? std::optional(prediction.top[1]) : std::nullopt;
      prediction.explanation = Explanation{std::move(nearest[i]), runner_up, radii[i]};
    }
    if (prediction.top.size() > options_.top) prediction.top.resize(options_.top);
  }
  return predictions;
}

void predict_set(const Predictor& predictor, const FeatureSet& set, const PredictionsCallback& use,
                 const ProgressCallback& progress) {
  Matrix<float> features(std::min(kExamplesPerBlock, set.rows()), set.dimension());
  for (std::size_t first = 0; first < set.rows(); first += kExamplesPerBlock) {
    report(progress, {"predict", first, set.rows(), {}});
    const std::size_t count = std::min(kExamplesPerBlock, set.rows() - first);
    set.copy_rows(first, features.view().rows_at(0, count));
    std::vector<Prediction> predictions = predictor.predict(std::as_const(features).view().rows_at(0, count));
    use(first, predictions);
  }
}

}  // namespace annulus
