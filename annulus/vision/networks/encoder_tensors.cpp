// Checks tensors against the needs of a network.
#include "annulus/vision/networks/encoder_tensors.h"

#include <fmt/format.h>

namespace annulus {

std::function<std::vector<float>()> EncoderTensors::need(const std::string& name,
                                                         const std::vector<std::int64_t>& shape) {
  const std::string full_name = stored_name(name);
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

std::function<std::vector<float>()> EncoderTensors::need_squeezed(const std::string& name,
                                                                  std::vector<std::int64_t> shape) {
  const auto squeezed = [](std::vector<std::int64_t> lengths) {
    while (lengths.size() > 1 && lengths.front() == 1) lengths.erase(lengths.begin());
    return lengths;
  };
  const StoredTensor* tensor = find(name);
  if (tensor != nullptr && squeezed(tensor->shape) == squeezed(shape)) shape = tensor->shape;
  return need(name, shape);
}

std::int64_t EncoderTensors::length(const std::string& name, int axis) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr) return 0;
  const auto axes = static_cast<int>(tensor->shape.size());
  const int index = axis < 0 ? axes + axis : axis;
  return index >= 0 && index < axes ? tensor->shape[static_cast<std::size_t>(index)] : 0;
}

void EncoderTensors::reject_unused(const std::string& stem, const std::string& architecture) {
  const std::string full_stem = stored_name(stem);
  for (auto at = file_->tensors().lower_bound(full_stem); at != file_->tensors().end(); ++at) {
    const std::string& name = at->first;
    if (!name.starts_with(full_stem)) break;
    if (used_.contains(name) || name.ends_with(".num_batches_tracked")) continue;
    problems_.push_back(fmt::format("found tensor {} of shape {}, which {} has no place for", name,
                                    dimensions_text(at->second.shape), architecture));
  }
}

}  // namespace annulus
