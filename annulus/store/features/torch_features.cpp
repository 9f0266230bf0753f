// Feature sets in PyTorch files: {features, targets} as torch.save or Python's pickle module wrote them. Nothing is
// run.
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/features/label_column.h"
#include "annulus/vision/import/torch_file.h"

namespace annulus {
namespace {

constexpr std::array<const char*, 2> kTorchLabelNames = {"targets", "labels"};

// Trailing lengths of 1, which pooling leaves, are dropped.
std::vector<std::int64_t> trimmed(std::vector<std::int64_t> shape, std::size_t least) {
  while (shape.size() > least && shape.back() == 1) shape.pop_back();
  return shape;
}

void set_features(const TensorFile& file, FeatureSetParts& parts) {
  const StoredTensor* const tensor = file.find("features");
  if (tensor == nullptr) {
    fail(ErrorKind::kFormat, "{}: expected a dict with a tensor named features, found none among its {} tensors",
         file.source(), file.tensors().size());
  }
  const auto shape = trimmed(tensor->shape, 2);
  if (shape.size() != 2) {
    fail(ErrorKind::kInput, "{}: expected features of shape [rows, dimension], found {}", file.source(),
         dimensions_text(tensor->shape));
  }
  // The vector is kept as it is: no second copy.
  const auto values = std::make_shared<const std::vector<float>>(file.read_floats("features"));
  if (values->empty()) return;
  parts.features = {values->data(), static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1])};
  parts.owner = values;
}

void set_labels(const TensorFile& file, const char* name, FeatureSetParts& parts) {
  const StoredTensor& tensor = *file.find(name);
  if (trimmed(tensor.shape, 1).size() != 1) {
    fail(ErrorKind::kInput, "{}: expected one of {} a row, found the shape {}", file.source(), name,
         dimensions_text(tensor.shape));
  }
  set_integer_labels(file.read_integers(name), parts);
}

}  // namespace

FeatureSetParts torch_features(const FileBytes& file) {
  const TensorFile tensors = read_torch_file(file.bytes, file.owner, file.source);
  FeatureSetParts parts;
  parts.source = file.source;
  set_features(tensors, parts);
  for (const char* const name : kTorchLabelNames) {
    if (tensors.find(name) == nullptr) continue;
    set_labels(tensors, name, parts);
    break;
  }
  return parts;
}

bool is_torch_archive(std::span<const std::byte> bytes) {
  // A zip archive begins with the header of its first entry, which PyTorch names FOLDER/data.pkl.
  constexpr std::size_t kNameLengthAt = 26;
  constexpr std::size_t kNameAt = 30;
  const std::string_view text = as_text(bytes);
  if (!text.starts_with("PK\x03\x04") || text.size() < kNameAt) return false;
  std::uint16_t length = 0;
  std::memcpy(&length, text.data() + kNameLengthAt, sizeof(length));
  return text.substr(kNameAt, length).ends_with("/data.pkl");
}

}  // namespace annulus
