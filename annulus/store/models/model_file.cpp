// Writes and reads models; the same checks guard both directions.
#include "annulus/store/models/model_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/kernels/half.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/transform/class_spread.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/formats/safetensors.h"
#include "annulus/store/models/head_arrays.h"
#include "annulus/store/models/training_record_entries.h"

namespace annulus {
namespace {

constexpr const char* kModelFormat = "annulus-model";
constexpr const char* kModelVersion = "2";
constexpr const char* kTextRecordVersion = "1";  // read as well: its training record is text alone, with other names
constexpr const char* kCentre = "centre";        // the array of a model that centres features; absent where none does
// The rows that it learnt from; all absent in a model that keeps none.
constexpr const char* kSupport = "support";
constexpr const char* kSupportLabels = "support_labels";
constexpr const char* kSupportPaths = "support_paths";  // the text of a JSON list; may be absent
// How it rejects unknown inputs; all absent in a model that rejects nothing, the axes also where there are none, the
// catch rates where they are not known.
constexpr const char* kWeights = "unknown_weights";
constexpr const char* kQuantiles = "unknown_quantiles";
constexpr const char* kAxes = "unknown_axes";
constexpr const char* kCaught = "unknown_caught";
constexpr const char* kTemperature = "temperature";         // absent where it is 1
constexpr const char* kParents = "parents";                 // the entry of a model whose classes have groups
constexpr const char* kGroupSharpness = "group_sharpness";  // beside it
constexpr const char* kPower = "power";  // the entry of a model that raises features to a power first

void check_text(const std::string& text, const char* what, ErrorKind kind, const std::string& source) {
  if (!is_utf8(text)) fail(kind, "{}: expected {} to be UTF-8 text", source, what);
}

void check_record(const TrainingRecord& record, ErrorKind kind, const std::string& source) {
  for (const auto& [key, value] : record_entries(record)) {
    check_text(key, "the training record", kind, source);
    if (const auto* const text = std::get_if<std::string>(&value)) {
      check_text(*text, "the training record", kind, source);
    }
    if (const auto* const number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number)) {
      fail(kind, "{}: expected finite numbers in the training record, found {} in \"{}\"", source, *number, key);
    }
  }
}

void check_support(const Model& model, ErrorKind kind, const std::string& source) {
  const SupportSet& support = model.support;
  if (support.labels.size() != support.features.rows()) {
    fail(kind, "{}: expected {} labels of support examples, found {}", source, support.features.rows(),
         support.labels.size());
  }
  if (!support.empty() && support.features.cols() != model.head.dimension()) {
    fail(kind, "{}: expected support examples of {} dimensions, found {}", source, model.head.dimension(),
         support.features.cols());
  }
  if (!support.paths.empty() && support.paths.size() != support.rows()) {
    fail(kind, "{}: expected {} paths of support examples, found {}", source, support.rows(), support.paths.size());
  }
  for (const std::string& path : support.paths) check_text(path, "a path", kind, source);
  for (std::size_t i = 0; i < support.rows(); ++i) {
    if (support.labels[i] < 0 || static_cast<std::size_t>(support.labels[i]) >= model.head.classes()) {
      fail(kind, "{}: expected labels of support examples from 0 to {}, found {}", source, model.head.classes() - 1,
           support.labels[i]);
    }
    const float length = squared_length(support.features.row(i));
    if (!(length > 0.0F) || !std::isfinite(length)) {
      fail(kind, "{}: expected support examples with a length, found none at row {}", source, i);
    }
  }
}

void check_unknown(const UnknownRule& rule, std::size_t dimension, ErrorKind kind, const std::string& source) {
  if (rule.empty()) return;
  if (rule.quantiles.size() != kUnknownQuantiles) {
    fail(kind, "{}: expected {} numbers in \"{}\", found {}", source, kUnknownQuantiles, kQuantiles,
         rule.quantiles.size());
  }
  const auto finite = [](float number) { return std::isfinite(number); };
  if (!std::all_of(rule.weights.begin(), rule.weights.end(), finite) ||
      !std::all_of(rule.quantiles.begin(), rule.quantiles.end(), finite) ||
      !std::all_of(rule.axes.begin(), rule.axes.end(), finite)) {
    fail(kind, "{}: expected finite numbers, found NaN or infinity in \"{}\", \"{}\" or \"{}\"", source, kWeights,
         kQuantiles, kAxes);
  }
  if (rule.axes.size() % dimension != 0 || rule.axes.size() / dimension > kSpreadAxes) {
    fail(kind, "{}: expected at most {} rows of {} dimensions in \"{}\", found {} numbers", source, kSpreadAxes,
         dimension, kAxes, rule.axes.size());
  }
  if (!std::is_sorted(rule.quantiles.begin(), rule.quantiles.end())) {
    fail(kind, "{}: expected \"{}\" in ascending order", source, kQuantiles);
  }
  const auto is_fraction = [](float number) { return number >= 0.0F && number <= 1.0F; };
  if (!rule.caught.empty() &&
      (rule.caught.size() != kUnknownQuantiles || !std::all_of(rule.caught.begin(), rule.caught.end(), is_fraction) ||
       !std::is_sorted(rule.caught.begin(), rule.caught.end()))) {
    fail(kind, "{}: expected {} numbers from 0 to 1 in ascending order in \"{}\", found others", source,
         kUnknownQuantiles, kCaught);
  }
}

void check_parents(const Model& model, ErrorKind kind, const std::string& source) {
  if (!std::isfinite(model.group_sharpness) || !(model.group_sharpness > 0.0)) {
    fail(kind, "{}: expected a group sharpness above 0, found {}", source, model.group_sharpness);
  }
  if (model.parents.empty()) return;
  for (const auto& [name, group] : model.parents) {
    check_text(name, "a group", kind, source);
    check_text(group, "a group", kind, source);
  }
  try {
    static_cast<void>(tree_of(model));
  } catch (const Error& error) {
    fail(kind, "{}: {}", source, error.what());
  }
}

void check_model(const Model& model, ErrorKind kind, const std::string& source) {
  const Head<float>& head = model.head;
  if (head.classes() == 0 || head.dimension() == 0) fail(kind, "{}: expected a head with classes, found none", source);
  if (per_class(head).size() != head.classes()) {
    fail(kind, "{}: expected {} numbers in \"{}\", one for each class, found {}", source, head.classes(),
         per_class_name(head.kind), per_class(head).size());
  }
  if (model.class_names.size() != head.classes()) {
    fail(kind, "{}: expected {} class names, one for each row of the head, found {}", source, head.classes(),
         model.class_names.size());
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : model.class_names) {
    check_text(name, "a class name", kind, source);
    if (!seen.insert(name).second) fail(kind, "{}: expected every class name once, found \"{}\" twice", source, name);
  }
  check_head(head, kind, source);
  const std::vector<float>& centre = head.transform.centre;
  if (!centre.empty() && centre.size() != head.dimension()) {
    fail(kind, "{}: expected {} numbers in \"centre\", one for each feature, found {}", source, head.dimension(),
         centre.size());
  }
  if (!std::all_of(centre.begin(), centre.end(), [](float number) { return std::isfinite(number); })) {
    fail(kind, "{}: expected finite numbers, found NaN or infinity in \"centre\"", source);
  }
  if (!(head.transform.power > 0.0F) || head.transform.power > 1.0F) {
    fail(kind, "{}: expected a power above 0 and not above 1, found {}", source, head.transform.power);
  }
  if (!std::isfinite(model.epsilon) || model.epsilon < 0.0) {
    fail(kind, "{}: expected an epsilon of 0 or more, found {}", source, model.epsilon);
  }
  if (!std::isfinite(model.temperature) || !(model.temperature > 0.0)) {
    fail(kind, "{}: expected a temperature above 0, found {}", source, model.temperature);
  }
  check_parents(model, kind, source);
  check_support(model, kind, source);
  check_unknown(model.unknown, head.dimension(), kind, source);
  if (model.trained) check_trained_head(*model.trained, model.head, kind, source);
  check_record(model.training, kind, source);
  for (const auto& [key, value] : model.provenance) {
    check_text(key, "the provenance", kind, source);
    check_text(value, "the provenance", kind, source);
  }
}

const std::string& required(const Safetensors& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    fail(ErrorKind::kFormat, "{}: expected the entry \"{}\" of a model file, found none", file.source(), key);
  }
  return found->second;
}

HeadKind kind_named(const std::string& name, const std::string& source) {
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    if (to_string(kind) == name) return kind;
  }
  fail(ErrorKind::kFormat, "{}: expected a cosine or linear head, found \"{}\"", source, name);
}

double parse_number(const std::string& text, const char* what, const std::string& source) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    fail(ErrorKind::kFormat, "{}: expected {} to be a number, found \"{}\"", source, what, text);
  }
  return value;
}

void check_arrays(const Safetensors& file, HeadKind kind) {
  const ArrayShape known[] = {{"direction", ElementType::kF32, 2},    {per_class_name(kind), ElementType::kF32, 1},
                              {kCentre, ElementType::kF32, 1},        {kSupport, ElementType::kF16, 2},
                              {kSupportLabels, ElementType::kI32, 1}, {kSupportPaths, ElementType::kU8, 1},
                              {kWeights, ElementType::kF32, 1},       {kQuantiles, ElementType::kF32, 1},
                              {kAxes, ElementType::kF32, 2},          {kCaught, ElementType::kF32, 1}};
  for (const auto& entry : file.tensors()) {
    const std::string& name = entry.first;
    const Tensor& tensor = entry.second;
    const auto* found =
        std::find_if(std::begin(known), std::end(known), [&](const ArrayShape& shape) { return shape.name == name; });
    if (found == std::end(known)) found = trained_head_array(name);
    if (found == nullptr) {
      fail(ErrorKind::kFormat, "{}: found the array \"{}\", which a {} head does not have", file.source(), name,
           to_string(kind));
    }
    if (tensor.type != found->type || tensor.shape.size() != found->dimensions) {
      fail(ErrorKind::kFormat, "{}: expected \"{}\" as a {} of {}, found {} of shape [{}]", file.source(), name,
           found->dimensions == 2 ? "matrix" : "list", to_string(found->type), to_string(tensor.type),
           fmt::join(tensor.shape, ", "));
    }
  }
}

SupportSet read_support(const Safetensors& file) {
  SupportSet support;
  const Tensor* const features = file.find(kSupport);
  if (features == nullptr) return support;
  support.features = Matrix<float>(features->shape[0], features->shape[1]);
  to_floats(features->type, features->bytes, {support.features.data(), features->elements()});
  const Tensor& labels = file.at(kSupportLabels);
  std::vector<std::int64_t> numbers(labels.elements());
  to_integers(labels.type, labels.bytes, numbers, file.source());
  support.labels.assign(numbers.begin(), numbers.end());
  if (const Tensor* const paths = file.find(kSupportPaths)) {
    const std::string_view text(reinterpret_cast<const char*>(paths->bytes.data()), paths->bytes.size());
    support.paths = parse_string_list(text, file.source() + ": " + kSupportPaths);
  }
  return support;
}

UnknownRule read_unknown(const Safetensors& file) {
  UnknownRule rule;
  if (file.find(kQuantiles) == nullptr && file.find(kWeights) == nullptr) return rule;
  const Tensor& quantiles = file.at(kQuantiles);
  const Tensor& weights = file.at(kWeights);
  if (weights.elements() < kFirstUnknownParts || weights.elements() > kUnknownParts) {
    fail(ErrorKind::kFormat, "{}: expected {} to {} numbers in \"{}\", found {}", file.source(), kFirstUnknownParts,
         kUnknownParts, kWeights, weights.elements());
  }
  // The cosine of four weights was another one: such a model has no rule any more.
  if (weights.elements() == kFirstUnknownParts) return rule;
  to_floats(weights.type, weights.bytes, std::span(rule.weights).first(weights.elements()));
  rule.quantiles.resize(quantiles.elements());
  to_floats(quantiles.type, quantiles.bytes, rule.quantiles);
  if (const Tensor* const axes = file.find(kAxes)) {
    rule.axes.resize(axes->elements());
    to_floats(axes->type, axes->bytes, rule.axes);
  }
  if (const Tensor* const caught = file.find(kCaught)) {
    rule.caught.resize(caught->elements());
    to_floats(caught->type, caught->bytes, rule.caught);
  }
  return rule;
}

void write_support(const SupportSet& support, const std::string& paths, SafetensorsWriter& writer) {
  writer.write(std::as_bytes(std::span(support.labels)));
  std::vector<std::uint16_t> half(support.features.cols());
  for (std::size_t i = 0; i < support.rows(); ++i) {
    narrow_half(support.features.row(i), half);
    writer.write(std::as_bytes(std::span(half)));
  }
  writer.write(std::as_bytes(std::span(paths)));
}

// Target: a path, or text that is to hold the bytes.
template <class Target>
void write_to(const Model& model, Target& target, const std::string& source) {
  check_model(model, ErrorKind::kInput, source);
  const Head<float>& head = model.head;
  std::vector<TensorLayout> layout = {
      {"direction", ElementType::kF32, {head.classes(), head.dimension()}},
      {std::string(per_class_name(head.kind)), ElementType::kF32, {head.classes()}},
  };
  std::map<std::string, std::string> metadata = {
      {"format", kModelFormat},
      {"version", kModelVersion},
      {kChecksumEntry, ""},  // filled in by the writer
      {"head", std::string(to_string(head.kind))},
      {"class_names", to_json(model.class_names)},
      {"epsilon", fmt::format("{}", model.epsilon)},  // the shortest text that reads back as the same number
      {"training", to_json(record_entries(model.training))},
      {"provenance", to_json(model.provenance)},
  };
  if (!model.parents.empty()) {
    metadata[kParents] = to_json(model.parents);
    metadata[kGroupSharpness] = fmt::format("{}", model.group_sharpness);
  }
  const FeatureTransform& transform = head.transform;
  if (!transform.centre.empty()) layout.push_back({kCentre, ElementType::kF32, {transform.centre.size()}});
  if (transform.power != 1.0F) metadata[kPower] = fmt::format("{}", transform.power);
  if (model.temperature != 1.0) metadata[kTemperature] = fmt::format("{}", model.temperature);
  if (!model.unknown.empty()) {
    layout.push_back({kWeights, ElementType::kF32, {model.unknown.weights.size()}});
    layout.push_back({kQuantiles, ElementType::kF32, {model.unknown.quantiles.size()}});
    if (const std::size_t axes = model.unknown.axes.size() / head.dimension(); axes > 0) {
      layout.push_back({kAxes, ElementType::kF32, {axes, head.dimension()}});
    }
    if (!model.unknown.caught.empty()) {
      layout.push_back({kCaught, ElementType::kF32, {model.unknown.caught.size()}});
    }
  }
  const SupportSet& support = model.support;
  const std::string paths = support.paths.empty() ? std::string() : to_json(support.paths);
  if (!support.empty()) {
    layout.push_back({kSupportLabels, ElementType::kI32, {support.rows()}});
    layout.push_back({kSupport, ElementType::kF16, {support.rows(), head.dimension()}});
    if (!paths.empty()) layout.push_back({kSupportPaths, ElementType::kU8, {paths.size()}});
  }
  // Without examples there is nothing to update the model by.
  const Head<float>* const trained = model.trained && !support.empty() ? &*model.trained : nullptr;
  if (trained != nullptr) lay_out_trained_head(*trained, layout);
  SafetensorsWriter writer(target, layout, metadata);
  writer.write(std::as_bytes(std::span(head.direction.data(), head.classes() * head.dimension())));
  writer.write(std::as_bytes(std::span(per_class(head))));
  writer.write(std::as_bytes(std::span(transform.centre)));
  if (!model.unknown.empty()) {
    writer.write(std::as_bytes(std::span(model.unknown.weights)));
    writer.write(std::as_bytes(std::span(model.unknown.quantiles)));
    writer.write(std::as_bytes(std::span(model.unknown.axes)));
    writer.write(std::as_bytes(std::span(model.unknown.caught)));
  }
  if (!support.empty()) write_support(support, paths, writer);
  if (trained != nullptr) write_trained_head(*trained, writer);
  writer.commit();
}

}  // namespace

void write_model(const Model& model, const std::filesystem::path& path) { write_to(model, path, path.string()); }

std::string model_bytes(const Model& model) {
  std::string bytes;
  write_to(model, bytes, "the model");
  return bytes;
}

Model read_model(const FileBytes& bytes) {
  const Safetensors file(bytes);
  const std::string& source = file.source();
  if (file.metadata_or("format", "") != kModelFormat) {
    fail(ErrorKind::kFormat, "{}: expected an Annulus model, found another safetensors file", source);
  }
  const std::string& version = required(file, "version");
  if (version != kModelVersion && version != kTextRecordVersion) {
    fail(ErrorKind::kFormat, "{}: expected version {} or {} of the model format, found \"{}\"", source,
         kTextRecordVersion, kModelVersion, version);
  }
  check_checksum(file);
  Model model;
  model.head.kind = kind_named(required(file, "head"), source);
  check_arrays(file, model.head.kind);
  const Tensor& direction = file.at("direction");
  const Tensor& numbers = file.at(per_class_name(model.head.kind));
  model.head.direction = Matrix<float>(direction.shape[0], direction.shape[1]);
  to_floats(direction.type, direction.bytes, {model.head.direction.data(), direction.elements()});
  auto& values = per_class(model.head);
  values.resize(numbers.elements());
  to_floats(numbers.type, numbers.bytes, values);
  if (const Tensor* const centre = file.find(kCentre)) {
    model.head.transform.centre.resize(centre->elements());
    to_floats(centre->type, centre->bytes, model.head.transform.centre);
  }
  model.support = read_support(file);
  model.head.transform.power = static_cast<float>(parse_number(file.metadata_or(kPower, "1"), kPower, source));
  model.trained = read_trained_head(file, model.head.transform);
  model.class_names = parse_string_list(required(file, "class_names"), source + ": class_names");
  if (const std::string parents = file.metadata_or(kParents, ""); !parents.empty()) {
    model.parents = parse_string_map(parents, source + ": " + kParents);
    model.group_sharpness = parse_number(file.metadata_or(kGroupSharpness, "1"), kGroupSharpness, source);
  }
  model.epsilon = parse_number(required(file, "epsilon"), "epsilon", source);
  model.unknown = read_unknown(file);
  model.temperature = parse_number(file.metadata_or(kTemperature, "1"), kTemperature, source);
  const std::string record_source = source + ": training";
  model.training = version == kTextRecordVersion
                       ? record_of_text(parse_string_map(required(file, "training"), record_source), record_source)
                       : record_of_entries(parse_value_map(required(file, "training"), record_source), record_source);
  model.provenance = parse_string_map(required(file, "provenance"), source + ": provenance");
  check_model(model, ErrorKind::kFormat, source);
  return model;
}

Model read_model(const std::filesystem::path& path) { return read_model(map_file(path)); }

}  // namespace annulus
