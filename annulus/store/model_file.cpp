// Writes and reads models; the same checks guard both directions.
#include "annulus/store/model_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/json_text.h"
#include "annulus/store/safetensors.h"

namespace annulus {
namespace {

constexpr const char* kModelFormat = "annulus-model";
constexpr const char* kModelVersion = "1";
constexpr const char* kCentre = "centre";  // the array of a model that centres features; absent where none does
constexpr const char* kRoot = "root";      // and the entry of one that takes their square roots first

std::string_view per_class_name(HeadKind kind) { return kind == HeadKind::kCosine ? "gain" : "bias"; }

template <class Head>
auto& per_class(Head& head) {
  return head.kind == HeadKind::kCosine ? head.gain : head.bias;
}

void check_numbers(std::span<const float> numbers, const char* what, std::size_t row, ErrorKind kind,
                   const std::string& source) {
  if (!std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); })) {
    fail(kind, "{}: expected finite numbers, found NaN or infinity in the {} of class {}", source, what, row);
  }
}

void check_text(const std::string& text, const char* what, ErrorKind kind, const std::string& source) {
  if (!is_utf8(text)) fail(kind, "{}: expected {} to be UTF-8 text", source, what);
}

void check_record(const std::map<std::string, std::string>& record, const char* what, ErrorKind kind,
                  const std::string& source) {
  for (const auto& [key, value] : record) {
    check_text(key, what, kind, source);
    check_text(value, what, kind, source);
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
  for (std::size_t c = 0; c < head.classes(); ++c) {
    const auto row = head.direction.row(c);
    check_numbers(row, "direction", c, kind, source);
    const bool zero = std::all_of(row.begin(), row.end(), [](float number) { return number == 0.0F; });
    if (head.kind == HeadKind::kCosine && zero) fail(kind, "{}: the direction of class {} is zero", source, c);
    check_numbers(std::span(per_class(head)).subspan(c, 1), head.kind == HeadKind::kCosine ? "gain" : "bias", c, kind,
                  source);
  }
  const std::vector<float>& centre = head.conditioning.centre;
  if (!centre.empty() && centre.size() != head.dimension()) {
    fail(kind, "{}: expected {} numbers in \"centre\", one for each feature, found {}", source, head.dimension(),
         centre.size());
  }
  if (!std::all_of(centre.begin(), centre.end(), [](float number) { return std::isfinite(number); })) {
    fail(kind, "{}: expected finite numbers, found NaN or infinity in \"centre\"", source);
  }
  if (!std::isfinite(model.epsilon) || model.epsilon < 0.0) {
    fail(kind, "{}: expected an epsilon of 0 or more, found {}", source, model.epsilon);
  }
  check_record(model.training, "the training record", kind, source);
  check_record(model.provenance, "the provenance", kind, source);
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

double parse_epsilon(const std::string& text, const std::string& source) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    fail(ErrorKind::kFormat, "{}: expected epsilon to be a number, found \"{}\"", source, text);
  }
  return value;
}

bool read_root(const Safetensors& file) {
  const std::string text = file.metadata_or(kRoot, "false");
  if (text != "true" && text != "false") {
    fail(ErrorKind::kFormat, "{}: expected \"{}\" to be true or false, found \"{}\"", file.source(), kRoot, text);
  }
  return text == "true";
}

void check_arrays(const Safetensors& file, HeadKind kind) {
  for (const auto& [name, tensor] : file.tensors()) {
    const bool is_direction = name == "direction";
    if (!is_direction && name != per_class_name(kind) && name != kCentre) {
      fail(ErrorKind::kFormat, "{}: found the array \"{}\", which a {} head does not have", file.source(), name,
           to_string(kind));
    }
    if (tensor.type != ElementType::kF32 || tensor.shape.size() != (is_direction ? 2 : 1)) {
      fail(ErrorKind::kFormat, "{}: expected \"{}\" as a {} of F32, found {} of shape [{}]", file.source(), name,
           is_direction ? "matrix" : "list", to_string(tensor.type), fmt::join(tensor.shape, ", "));
    }
  }
}

}  // namespace

void write_model(const Model& model, const std::filesystem::path& path) {
  check_model(model, ErrorKind::kInput, path.string());
  const Head<float>& head = model.head;
  std::vector<TensorLayout> layout = {
      {"direction", ElementType::kF32, {head.classes(), head.dimension()}},
      {std::string(per_class_name(head.kind)), ElementType::kF32, {head.classes()}},
  };
  std::map<std::string, std::string> metadata = {
      {"format", kModelFormat},
      {"version", kModelVersion},
      {"head", std::string(to_string(head.kind))},
      {"class_names", to_json(model.class_names)},
      {"epsilon", fmt::format("{}", model.epsilon)},  // the shortest text that reads back as the same number
      {"training", to_json(model.training)},
      {"provenance", to_json(model.provenance)},
  };
  const Conditioning& conditioning = head.conditioning;
  if (!conditioning.centre.empty()) layout.push_back({kCentre, ElementType::kF32, {conditioning.centre.size()}});
  if (conditioning.root) metadata[kRoot] = "true";
  SafetensorsWriter writer(path, layout, metadata);
  writer.write(std::as_bytes(std::span(head.direction.data(), head.classes() * head.dimension())));
  writer.write(std::as_bytes(std::span(per_class(head))));
  writer.write(std::as_bytes(std::span(conditioning.centre)));
  writer.commit();
}

Model read_model(const FileBytes& bytes) {
  const Safetensors file(bytes);
  const std::string& source = file.source();
  if (file.metadata_or("format", "") != kModelFormat) {
    fail(ErrorKind::kFormat, "{}: expected an Annulus model, found another safetensors file", source);
  }
  if (required(file, "version") != kModelVersion) {
    fail(ErrorKind::kFormat, "{}: expected version {} of the model format, found \"{}\"", source, kModelVersion,
         required(file, "version"));
  }
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
  if (const auto centre = file.tensors().find(kCentre); centre != file.tensors().end()) {
    model.head.conditioning.centre.resize(centre->second.elements());
    to_floats(centre->second.type, centre->second.bytes, model.head.conditioning.centre);
  }
  model.head.conditioning.root = read_root(file);
  model.class_names = parse_string_list(required(file, "class_names"), source + ": class_names");
  model.epsilon = parse_epsilon(required(file, "epsilon"), source);
  model.training = parse_string_map(required(file, "training"), source + ": training");
  model.provenance = parse_string_map(required(file, "provenance"), source + ": provenance");
  check_model(model, ErrorKind::kFormat, source);
  return model;
}

Model read_model(const std::filesystem::path& path) { return read_model(map_file(path)); }

}  // namespace annulus
