// Checks tensors against a network's needs.
#include "annulus/vision/encoder_tensors.h"

#include <fmt/format.h>

namespace annulus {

std::function<std::vector<float>()> EncoderTensors::need(const std::string& name,
                                                         const std::vector<std::int64_t>& shape) {
  const std::string full_name = prefix_ + name;
  const StoredTensor* tensor = file_->find(full_name);
  if (tensor == nullptr) {
    problems_.push_back(fmt::format("expected tensor {} of shape {}, found none", full_name, dimensions_text(shape)));
  } else if (tensor->shape != shape) {
    problems_.push_back(fmt::format("expected tensor {} of shape {}, found {}", full_name, dimensions_text(shape),
                                    dimensions_text(tensor->shape)));
  } else {
    used_.insert(full_name);
  }
  return [file = file_, full_name] { return file->read_floats(full_name); };
}

void EncoderTensors::refuse_unused(const std::string& stem, const std::string& architecture) {
  const std::string full_stem = prefix_ + stem;
  for (auto at = file_->tensors().lower_bound(full_stem); at != file_->tensors().end(); ++at) {
    const std::string& name = at->first;
    if (!name.starts_with(full_stem)) break;
    if (used_.contains(name) || name.ends_with(".num_batches_tracked")) continue;
    problems_.push_back(fmt::format("found tensor {} of shape {}, which {} has no place for", name,
                                    dimensions_text(at->second.shape), architecture));
  }
}

}  // namespace annulus
