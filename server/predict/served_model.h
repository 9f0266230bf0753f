// A model that is being served: read once, never changed, replaced as a whole.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "annulus/learn/model/model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/report/documents/prediction_json.h"

namespace annulus::server {

// Classes per prediction unless all are requested.
inline constexpr std::size_t kUsualTop = 16;

class ServedModel {
 public:
  // `waits`: the model is to take images, but its backbone could not be opened yet.
  ServedModel(std::string name, std::string version, Model model, std::shared_ptr<const Encoder> encoder,
              bool waits = false);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }  // the first digits of the file's SHA-256
  const Model& model() const { return model_; }
  const Encoder* encoder() const { return encoder_.get(); }  // null: it takes features only
  bool waits_for_encoder() const { return waits_; }
  // Class names as JSON strings, quotes and all.
  const std::vector<std::string>& quoted_names() const { return json_.quoted_names(); }
  bool may_reject() const { return !model_.unknown.empty(); }

  // Created on first use. Its predictions have kUsualTop classes or all, and unknown scores if the model has a rule.
  // Throws Error{kInput} if predictions of a model without training examples are to be explained.
  const Predictor& predictor(bool explain, bool all_classes) const;

  // The class, or the group of classes where the class is unsure, whether or not the input is rejected.
  const std::string& name_of(const Prediction& prediction) const;

  // Whether a score is rejected at a false-rejection rate.
  bool rejects(float unknown_score, double fraction) const;

  // Appends a prediction of row number `row` of a request as JSON, with `top` classes at most.
  void write_json(const Prediction& prediction, std::size_t row, std::size_t top, double fraction,
                  std::string& out) const;

 private:
  std::string name_;
  std::string version_;
  Model model_;
  std::shared_ptr<const Encoder> encoder_;
  bool waits_;
  ClassTree tree_;
  PredictionJson json_;
  mutable std::mutex mutex_;
  mutable std::array<std::unique_ptr<const Predictor>, 4> predictors_;
};

}  // namespace annulus::server
