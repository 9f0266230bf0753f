// Predictors by their options, created on first use.
#include "server/predict/served_model.h"

#include <utility>

namespace annulus::server {

ServedModel::ServedModel(std::string name, std::string version, Model model, std::shared_ptr<const Encoder> encoder,
                         bool waits)
    : name_(std::move(name)),
      version_(std::move(version)),
      model_(std::move(model)),
      encoder_(std::move(encoder)),
      waits_(waits),
      tree_(tree_of(model_)),
      json_(model_.class_names, model_.support, model_.epsilon, tree_) {
  predictor(false, false);
}

const Predictor& ServedModel::predictor(bool explain, bool all_classes) const {
  const std::lock_guard lock(mutex_);
  auto& found = predictors_[(explain ? 2U : 0U) + (all_classes ? 1U : 0U)];
  if (!found) {
    PredictorOptions options;
    options.explain = explain;
    options.top = all_classes ? model_.class_names.size() : kUsualTop;
    options.threads = 1;  // batches share out the processors
    found = std::make_unique<const Predictor>(model_, options);
  }
  return *found;
}

const std::string& ServedModel::name_of(const Prediction& prediction) const {
  if (prediction.lineage.empty()) return model_.class_names[static_cast<std::size_t>(prediction.top.front().index)];
  return tree_.names()[static_cast<std::size_t>(prediction.lineage[prediction.level].index)];
}

bool ServedModel::rejects(float unknown_score, double fraction) const {
  return may_reject() && fraction > 0.0 && unknown_score < unknown_threshold(model_.unknown, fraction);
}

void ServedModel::write_json(const Prediction& prediction, std::size_t row, std::size_t top, double fraction,
                             std::string& out) const {
  json_.write({.prediction = prediction,
               .row = row,
               .top = top,
               .may_reject = may_reject() && fraction > 0.0,
               .rejected = rejects(prediction.unknown_score, fraction)},
              out);
}

}  // namespace annulus::server
