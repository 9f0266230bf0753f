// Walks an ONNX model with a table of the fields that hold names; every other field is copied unchanged.
#include "annulus/vision/onnx/onnx_graph.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/onnx/protobuf.h"

namespace annulus {
namespace {

constexpr int kDeepest = 64;  // graphs within graphs

enum class Message { kGraph, kNode, kAttribute, kTensor, kSparseTensor, kValueInfo, kAnnotation, kAnnotationEntry };

// The treatment of a field: its text gets the prefix, or its message is walked. Other fields are unchanged.
struct Rule {
  Message message;
  std::uint32_t field;
  std::optional<Message> inside;  // absent: a name
};
constexpr std::uint32_t kGraphWeight = 5;
constexpr std::uint32_t kGraphInput = 11;
constexpr std::uint32_t kGraphOutput = 12;
constexpr std::uint32_t kTensorName = 8;
constexpr Rule kRules[] = {
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, kGraphWeight, Message::kTensor},
    {Message::kGraph, kGraphInput, Message::kValueInfo},
    {Message::kGraph, kGraphOutput, Message::kValueInfo},
    {Message::kGraph, 13, Message::kValueInfo},
    {Message::kGraph, 14, Message::kAnnotation},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kNode, 1, std::nullopt},  // inputs
    {Message::kNode, 2, std::nullopt},  // outputs
    {Message::kNode, 3, std::nullopt},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kTensor, kTensorName, std::nullopt},
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kValueInfo, 1, std::nullopt},
    {Message::kAnnotation, 1, std::nullopt},
    {Message::kAnnotation, 2, Message::kAnnotationEntry},
    {Message::kAnnotationEntry, 2, std::nullopt},
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Walk {
 public:
  Walk(const std::string& prefix, const std::string& source) : prefix_(prefix), source_(source) {}

  ProtobufReader read(std::span<const std::byte> message) const { return {message, source_}; }

  // An absent optional input is an empty name and stays one.
  std::string renamed(std::string_view name) const {
    return name.empty() ? std::string() : prefix_ + std::string(name);
  }

  std::string rewrite(Message message, std::span<const std::byte> bytes, int depth) const {
    if (depth > kDeepest) fail(ErrorKind::kFormat, "{}: expected graphs nested {} deep at most", source_, kDeepest);
    std::string result;
    ProtobufReader reader = read(bytes);
    while (const auto field = reader.next()) result += rewrite_field(message, *field, depth);
    return result;
  }

  std::string rewrite_field(Message message, const ProtobufField& field, int depth) const {
    const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& candidate) {
      return candidate.message == message && candidate.field == field.number;
    });
    if (message == Message::kTensor) reject_external(field);
    if (rule == std::end(kRules) || !field.has_length) return std::string(text_of(field.encoded));
    if (rule->inside) return bytes_field(field.number, rewrite(*rule->inside, field.bytes, depth + 1));
    return bytes_field(field.number, renamed(field.text()));
  }

  OnnxGraph::Weight weight(const ProtobufField& whole) const {
    OnnxGraph::Weight weight{{}, whole.bytes, {}};
    ProtobufReader reader = read(whole.bytes);
    while (const auto field = reader.next()) {
      reject_external(*field);
      if (field->number != kTensorName || !field->has_length) continue;
      const auto start = static_cast<std::size_t>(field->encoded.data() - whole.bytes.data());
      weight.name_field = bytes_field(kTensorName, renamed(field->text()));
      weight.before = whole.bytes.first(start);
      weight.after = whole.bytes.subspan(start + field->encoded.size());
    }
    return weight;
  }

  // The name in a ValueInfoProto or, as field 8, in a TensorProto.
  std::string name_in(std::span<const std::byte> message, std::uint32_t name_field) const {
    std::string name;
    ProtobufReader reader = read(message);
    while (const auto field = reader.next()) {
      if (field->number == name_field) name = renamed(field->text());
    }
    return name;
  }

 private:
  void reject_external(const ProtobufField& field) const {
    constexpr std::uint32_t kExternalData = 13;
    if (field.number != kExternalData) return;
    fail(ErrorKind::kInput, "{}: expected a network whose weights are in the same file, found some that are in another",
         source_);
  }

  const std::string& prefix_;
  const std::string& source_;
};

void read_graph(const Walk& walk, std::span<const std::byte> bytes, OnnxGraph& graph) {
  std::set<std::string> weights;  // old files list weights among the inputs as well
  ProtobufReader reader = walk.read(bytes);
  while (const auto field = reader.next()) {
    if (!field->has_length) continue;
    if (field->number == kGraphWeight) {
      graph.weights.push_back(walk.weight(*field));
      weights.insert(walk.name_in(field->bytes, kTensorName));
    } else if (field->number == kGraphInput) {
      graph.inputs.push_back(walk.name_in(field->bytes, 1));
    } else if (field->number == 1 || field->number == 13 || field->number == 14 || field->number == 15) {
      graph.nodes += walk.rewrite_field(Message::kGraph, *field, 0);
    }
  }
  std::erase_if(graph.inputs, [&](const std::string& name) { return weights.contains(name); });
}

void read_opset(const Walk& walk, std::span<const std::byte> bytes, OnnxGraph& graph) {
  std::string domain;
  std::uint64_t version = 0;
  ProtobufReader reader = walk.read(bytes);
  while (const auto field = reader.next()) {
    if (field->number == 1) domain = field->text();
    if (field->number == 2) version = field->value;
  }
  if (domain == "ai.onnx") domain.clear();  // the same set by its long name
  graph.opsets[domain] = version;
}

}  // namespace

OnnxGraph read_onnx_graph(std::span<const std::byte> file, const std::string& prefix, const std::string& source) {
  constexpr std::uint32_t kFunctions = 25;
  const Walk walk(prefix, source);
  OnnxGraph graph;
  bool found = false;
  ProtobufReader reader = walk.read(file);
  while (const auto field = reader.next()) {
    if (field->number == 1) graph.ir_version = field->value;
    if (field->number == 8 && field->has_length) read_opset(walk, field->bytes, graph);
    if (field->number == kFunctions) graph.functions += text_of(field->encoded);
    if (field->number == 7 && field->has_length) {
      found = true;
      read_graph(walk, field->bytes, graph);
    }
  }
  if (!found || graph.nodes.empty()) fail(ErrorKind::kFormat, "{}: expected an ONNX model, found no graph", source);
  return graph;
}

namespace {

constexpr std::uint32_t kExternalData = 13;  // of a TensorProto: pairs of a key and a value

void check_place(const std::string& place, const std::string& source) {
  const std::filesystem::path path(place);
  const std::filesystem::path normal = path.lexically_normal();
  if (place.empty() || path.has_root_path() || normal.empty() || *normal.begin() == "..") {
    fail(ErrorKind::kFormat, "{}: expected weights in the folder of the network, found some in \"{}\"", source, place);
  }
}

// The fields that hold tensors, at whatever depth: the messages of kRules, and functions.
void collect_places(Message message, std::span<const std::byte> bytes, const std::string& source, int depth,
                    std::set<std::string>& places) {
  if (depth > kDeepest) fail(ErrorKind::kFormat, "{}: expected graphs nested {} deep at most", source, kDeepest);
  ProtobufReader reader(bytes, source);
  while (const auto field = reader.next()) {
    if (!field->has_length) continue;
    if (message == Message::kTensor && field->number == kExternalData) {
      std::string key;
      std::string value;
      ProtobufReader pair(field->bytes, source);
      while (const auto part = pair.next()) {
        if (part->number == 1) key = part->text();
        if (part->number == 2) value = part->text();
      }
      if (key != "location") continue;
      check_place(value, source);
      places.insert(value);
    }
    for (const Rule& rule : kRules) {
      if (rule.message != message || rule.field != field->number || !rule.inside) continue;
      collect_places(*rule.inside, field->bytes, source, depth + 1, places);
    }
  }
}

}  // namespace

std::set<std::string> external_weights(std::span<const std::byte> file, const std::string& source) {
  constexpr std::uint32_t kModelGraph = 7;
  constexpr std::uint32_t kModelFunction = 25;
  constexpr std::uint32_t kFunctionNode = 7;
  std::set<std::string> places;
  ProtobufReader reader(file, source);
  while (const auto field = reader.next()) {
    if (!field->has_length) continue;
    if (field->number == kModelGraph) collect_places(Message::kGraph, field->bytes, source, 0, places);
    if (field->number != kModelFunction) continue;
    ProtobufReader function(field->bytes, source);
    while (const auto node = function.next()) {
      if (node->has_length && node->number == kFunctionNode) {
        collect_places(Message::kNode, node->bytes, source, 0, places);
      }
    }
  }
  return places;
}

}  // namespace annulus
