// A model that is being served: read once, never changed, replaced as a whole.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "annulus/learn/model.h"
#include "annulus/learn/recogniser.h"
#include "annulus/store/encoder.h"

namespace annulus::server {

// Classes that answers name unless all are asked for.
inline constexpr std::size_t kUsualTop = 16;

class ServedModel {
 public:
  ServedModel(std::string name, std::string version, Model model, std::shared_ptr<const Encoder> encoder);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }  // the first digits of the file's SHA-256
  const Model& model() const { return model_; }
  const Encoder* encoder() const { return encoder_.get(); }  // null: it takes features only
  // Class names as JSON strings, quotes and all.
  const std::vector<std::string>& quoted_names() const { return quoted_names_; }
  bool may_refuse() const { return !model_.unknown.empty(); }

  // Made at first use. Its answers name kUsualTop classes or all, and carry unknown scores where the model has a rule.
  // Throws Error{kInput} when answers of a model without training rows are to be explained.
  const Recogniser& recogniser(bool explain, bool all_classes) const;

  // Whether a score is refused at a share of false refusals.
  bool refuses(float unknown_score, double share) const;

 private:
  std::string name_;
  std::string version_;
  Model model_;
  std::shared_ptr<const Encoder> encoder_;
  std::vector<std::string> quoted_names_;
  mutable std::mutex mutex_;
  mutable std::array<std::unique_ptr<const Recogniser>, 4> recognisers_;
};

}  // namespace annulus::server
