// Feature sets in safetensors files: arrays as tensors, names and provenance as JSON text.
#include <cstdint>
#include <memory>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/features/label_column.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/formats/safetensors.h"

namespace annulus {
namespace {

constexpr const char* kFeaturesFormat = "annulus-features";
constexpr const char* kFeaturesVersion = "1";

void set_features(const Safetensors& file, FeatureSetParts& parts) {
  const Tensor& tensor = file.at("features");
  if (tensor.shape.size() != 2) {
    fail(ErrorKind::kInput, "{}: expected features of shape [rows, dimension], found [{}]", file.source(),
         fmt::join(tensor.shape, ", "));
  }
  const std::size_t rows = tensor.shape[0];
  const std::size_t cols = tensor.shape[1];
  if (tensor.bytes.empty()) return;
  const bool half = tensor.type == ElementType::kF16;
  const bool aligned = reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % element_size(tensor.type) == 0;
  if (aligned && half) {
    parts.half_features = {reinterpret_cast<const std::uint16_t*>(tensor.bytes.data()), rows, cols};
    parts.owner = file.file().owner;
  } else if (aligned && tensor.type == ElementType::kF32) {
    parts.features = {reinterpret_cast<const float*>(tensor.bytes.data()), rows, cols};
    parts.owner = file.file().owner;
  } else {
    const auto matrix = std::make_shared<Matrix<float>>(rows, cols);
    to_floats(tensor.type, tensor.bytes, {matrix->data(), rows * cols});
    parts.features = matrix->view();
    parts.owner = matrix;
  }
}

std::vector<std::int64_t> column(const Safetensors& file, const char* name, const Tensor& tensor) {
  const std::string where = fmt::format("{}: array \"{}\"", file.source(), name);
  if (tensor.shape.size() != 1) {
    fail(ErrorKind::kInput, "{}: expected one value per row, found the shape [{}]", where,
         fmt::join(tensor.shape, ", "));
  }
  std::vector<std::int64_t> values(tensor.elements());
  to_integers(tensor.type, tensor.bytes, values, where);
  return values;
}

}  // namespace

FeatureSetParts safetensors_features(const FileBytes& bytes, bool verify) {
  const Safetensors file(bytes);
  if (file.metadata_or("format", kFeaturesFormat) == "annulus-model") {
    fail(ErrorKind::kFormat, "{}: expected features, found a model", file.source());
  }
  if (file.metadata_or("format", "") == kFeaturesFormat && file.metadata_or("version", "") != kFeaturesVersion) {
    fail(ErrorKind::kFormat, "{}: expected version {} of the feature format, found \"{}\"", file.source(),
         kFeaturesVersion, file.metadata_or("version", ""));
  }
  if (verify) check_checksum(file);
  FeatureSetParts parts;
  parts.source = file.source();
  set_features(file, parts);
  const auto& metadata = file.metadata();
  if (const auto names = metadata.find("class_names"); names != metadata.end()) {
    parts.class_names = parse_string_list(names->second, file.source() + ": class_names");
    check_unique(parts.class_names, parts.source);
  }
  if (const Tensor* labels = file.find("labels")) set_integer_labels(column(file, "labels", *labels), parts);
  if (const Tensor* is_train = file.find("is_train")) set_is_train(column(file, "is_train", *is_train), parts);
  if (const Tensor* groups = file.find("groups")) set_groups(column(file, "groups", *groups), parts);
  if (const Tensor* paths = file.find("paths")) {
    if (paths->type != ElementType::kU8) {
      fail(ErrorKind::kFormat, "{}: expected paths as JSON text in an array of U8, found {}", file.source(),
           to_string(paths->type));
    }
    parts.paths = parse_string_list(as_text(paths->bytes), file.source() + ": paths");
  }
  if (const auto provenance = metadata.find("provenance"); provenance != metadata.end()) {
    parts.provenance = parse_string_map(provenance->second, file.source() + ": provenance");
  }
  return parts;
}

void write_safetensors_features(const FeatureSet& set, const std::filesystem::path& path, const WriteOptions& options) {
  const bool half = options.type == FeatureType::kFloat16;
  const std::string paths = set.paths().empty() ? "" : to_json(set.paths());
  std::map<std::string, std::string> metadata = {
      {"format", kFeaturesFormat}, {"version", kFeaturesVersion}, {kChecksumEntry, ""}};
  if (set.classes() != 0) metadata["class_names"] = to_json(set.class_names());
  if (!set.provenance().empty()) metadata["provenance"] = to_json(set.provenance());

  std::vector<TensorLayout> layout;
  if (set.labelled()) layout.push_back({"labels", ElementType::kI64, {set.rows()}});
  if (!set.groups().empty()) layout.push_back({"groups", ElementType::kI32, {set.rows()}});
  layout.push_back({"features", half ? ElementType::kF16 : ElementType::kF32, {set.rows(), set.dimension()}});
  if (!set.is_train().empty()) layout.push_back({"is_train", ElementType::kU8, {set.rows()}});
  if (!paths.empty()) layout.push_back({"paths", ElementType::kU8, {paths.size()}});

  SafetensorsWriter writer(path, layout, metadata);
  const std::vector<std::int64_t> labels(set.labels().begin(), set.labels().end());
  writer.write(std::as_bytes(std::span(labels)));
  writer.write(std::as_bytes(set.groups()));
  for_each_block(feature_blocks(set, options.type), [&](std::span<const std::byte> block) { writer.write(block); });
  writer.write(std::as_bytes(set.is_train()));
  writer.write(std::as_bytes(std::span(paths)));
  writer.commit();
}

}  // namespace annulus
