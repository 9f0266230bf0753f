// Recognisers by what they are asked, made when they are first needed.
#include "server/served_model.h"

#include <utility>

#include "server/json_text.h"

namespace annulus::server {

ServedModel::ServedModel(std::string name, std::string version, Model model, std::shared_ptr<const Encoder> encoder)
    : name_(std::move(name)), version_(std::move(version)), model_(std::move(model)), encoder_(std::move(encoder)) {
  for (const std::string& class_name : model_.class_names) quoted_names_.push_back(json_string(class_name));
  recogniser(false, false);
}

const Recogniser& ServedModel::recogniser(bool explain, bool all_classes) const {
  const std::lock_guard lock(mutex_);
  auto& found = recognisers_[(explain ? 2U : 0U) + (all_classes ? 1U : 0U)];
  if (!found) {
    RecogniserOptions options;
    options.explain = explain;
    options.top = all_classes ? model_.class_names.size() : kUsualTop;
    options.threads = 1;  // batches share out the processors
    found = std::make_unique<const Recogniser>(model_, options);
  }
  return *found;
}

bool ServedModel::refuses(float unknown_score, double share) const {
  return may_refuse() && share > 0.0 && unknown_score < unknown_threshold(model_.unknown, share);
}

}  // namespace annulus::server
