// Reads the fields of ONNX's messages that a change of nodes and weights needs; every other field is copied.
#include "annulus/vision/onnx/onnx_network.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "annulus/base/error.h"
#include "annulus/vision/onnx/protobuf.h"

namespace annulus {
namespace {

constexpr std::uint32_t kTensorExternal = 13;

std::string_view text_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> encoded_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// The attribute of that name, as its fields.
std::optional<std::span<const std::byte>> find_attribute(const std::string& attributes, std::string_view wanted) {
  const std::string source = "an attribute";
  ProtobufReader reader(encoded_bytes(attributes), source);
  while (const auto attribute = reader.next()) {
    ProtobufReader inner(attribute->bytes, source);
    while (const auto field = inner.next()) {
      if (field->number == 1 && field->text() == wanted) return attribute->bytes;
    }
  }
  return std::nullopt;
}

OnnxNode read_node(std::span<const std::byte> bytes, const std::string& source) {
  constexpr std::uint32_t kSubgraph = 6;
  constexpr std::uint32_t kSubgraphs = 11;
  OnnxNode node;
  ProtobufReader reader(bytes, source);
  while (const auto field = reader.next()) {
    if (!field->has_length) continue;
    if (field->number == 1) node.inputs.emplace_back(field->text());
    if (field->number == 2) node.outputs.emplace_back(field->text());
    if (field->number == 3) node.name = field->text();
    if (field->number == 4) node.kind = field->text();
    if (field->number == 7) node.domain = field->text();
    if (field->number != 5) continue;
    ProtobufReader inner(field->bytes, source);
    while (const auto part = inner.next()) {
      if (part->number != kSubgraph && part->number != kSubgraphs) continue;
      fail(ErrorKind::kInput, "{}: expected a network without conditions and loops, found a {}", source, node.kind);
    }
    node.attributes += text_in(field->encoded);
  }
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

std::string encode_node(const OnnxNode& node) {
  std::string bytes;
  for (const std::string& name : node.inputs) bytes += bytes_field(1, name);
  for (const std::string& name : node.outputs) bytes += bytes_field(2, name);
  if (!node.name.empty()) bytes += bytes_field(3, node.name);
  bytes += bytes_field(4, node.kind) + node.attributes;
  if (!node.domain.empty()) bytes += bytes_field(7, node.domain);
  return bytes_field(1, bytes);
}

// Numbers of a repeated field, packed or one by one.
void read_numbers(const ProtobufField& field, const std::string& source, std::vector<std::int64_t>& out) {
  if (!field.has_length) {
    out.push_back(static_cast<std::int64_t>(field.value));
    return;
  }
  // Packed numbers are read as fields of one tag by putting the tag before each of them.
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const std::byte byte : field.bytes) {
    if (shift > 63) fail(ErrorKind::kFormat, "{}: expected a number of a protocol buffer, found a longer one", source);
    value |= (std::to_integer<std::uint64_t>(byte) & 0x7F) << shift;
    shift += 7;
    if (std::to_integer<unsigned>(byte) >= 0x80) continue;
    out.push_back(static_cast<std::int64_t>(value));
    value = 0;
    shift = 0;
  }
}

OnnxTensor read_tensor(std::span<const std::byte> bytes, const std::string& source) {
  OnnxTensor tensor;
  tensor.encoded = bytes;
  ProtobufReader reader(bytes, source);
  while (const auto field = reader.next()) {
    if (field->number == 1) read_numbers(*field, source, tensor.shape);
    if (field->number == 2) tensor.type = field->value;
    if (field->number == 8 && field->has_length) tensor.name = field->text();
    if (field->number != kTensorExternal) continue;
    fail(ErrorKind::kInput, "{}: expected a network whose weights are in the same file, found some that are in another",
         source);
  }
  return tensor;
}

std::string value_name(std::span<const std::byte> value_info, const std::string& source) {
  std::string name;
  ProtobufReader reader(value_info, source);
  while (const auto field = reader.next()) {
    if (field->number == 1 && field->has_length) name = field->text();
  }
  return name;
}

}  // namespace

std::int64_t OnnxNode::integer(std::string_view attribute, std::int64_t fallback) const {
  const auto found = find_attribute(attributes, attribute);
  if (!found) return fallback;
  std::int64_t value = 0;  // a field that is left out is 0
  const std::string source = "an attribute";
  ProtobufReader reader(*found, source);
  while (const auto field = reader.next()) {
    if (field->number == 3) value = static_cast<std::int64_t>(field->value);
  }
  return value;
}

float OnnxNode::real(std::string_view attribute, float fallback) const {
  const auto found = find_attribute(attributes, attribute);
  if (!found) return fallback;
  float value = 0.0F;
  const std::string source = "an attribute";
  ProtobufReader reader(*found, source);
  while (const auto field = reader.next()) {
    if (field->number == 2 && field->encoded.size() >= sizeof(float)) {
      std::memcpy(&value, field->encoded.data() + field->encoded.size() - sizeof(float), sizeof(float));
    }
  }
  return value;
}

std::span<const std::byte> OnnxTensor::message() const { return made.empty() ? encoded : encoded_bytes(made); }

OnnxTensor make_tensor(std::string name, std::vector<std::int64_t> shape, std::uint64_t type,
                       std::span<const std::byte> content) {
  OnnxTensor tensor;
  for (const std::int64_t length : shape) tensor.made += number_field(1, static_cast<std::uint64_t>(length));
  tensor.made += number_field(2, type) + bytes_field(8, name) + bytes_field(9, text_in(content));
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.type = type;
  return tensor;
}

OnnxTensor make_floats(std::string name, std::vector<std::int64_t> shape, std::span<const float> values) {
  return make_tensor(std::move(name), std::move(shape), kOnnxFloat, std::as_bytes(values));
}

std::optional<std::vector<float>> float_values(const OnnxTensor& tensor, const std::string& source) {
  if (tensor.type != kOnnxFloat) return std::nullopt;
  std::size_t count = 1;
  for (const std::int64_t length : tensor.shape) {
    const auto most = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());
    if (length <= 0 || length > most || count > static_cast<std::size_t>(most / length)) return std::nullopt;
    count *= static_cast<std::size_t>(length);
  }
  constexpr std::uint32_t kPackedFloats = 4;
  constexpr std::uint32_t kRawBytes = 9;
  ProtobufReader reader(tensor.message(), source);
  while (const auto field = reader.next()) {
    if ((field->number != kPackedFloats && field->number != kRawBytes) || !field->has_length) continue;
    if (field->bytes.size() != count * sizeof(float)) return std::nullopt;
    std::vector<float> values(count);
    std::memcpy(values.data(), field->bytes.data(), field->bytes.size());
    return values;
  }
  return std::nullopt;
}

OnnxNetwork OnnxNetwork::read(std::span<const std::byte> file, const std::string& source) {
  OnnxNetwork network;
  network.source_ = source;
  ProtobufReader reader(file, source);
  std::optional<std::span<const std::byte>> graph;
  while (const auto field = reader.next()) {
    if (field->number == 7 && field->has_length) {
      if (graph) fail(ErrorKind::kFormat, "{}: expected one graph, found several", source);
      graph = field->bytes;
      continue;
    }
    if (field->number == 8 && field->has_length) {
      std::string domain;
      std::uint64_t version = 0;
      ProtobufReader inner(field->bytes, source);
      while (const auto part = inner.next()) {
        if (part->number == 1) domain = part->text();
        if (part->number == 2) version = part->value;
      }
      network.opsets[domain == "ai.onnx" ? "" : domain] = version;
    }
    network.model_fields_ += text_in(field->encoded);
  }
  if (!graph) fail(ErrorKind::kFormat, "{}: expected an ONNX model, found no graph", source);
  network.read_graph(*graph);
  if (network.nodes.empty()) fail(ErrorKind::kFormat, "{}: expected an ONNX model, found no operators", source);
  return network;
}

void OnnxNetwork::read_graph(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kShapesOfValues = 13;            // may not hold any more after a change
  std::vector<std::pair<std::string, std::string>> slots;  // old files list weights among the inputs as well
  ProtobufReader reader(bytes, source_);
  while (const auto field = reader.next()) {
    if (field->number == 1 && field->has_length) {
      nodes.push_back(read_node(field->bytes, source_));
    } else if (field->number == 5 && field->has_length) {
      OnnxTensor tensor = read_tensor(field->bytes, source_);
      const std::string name = tensor.name;
      weights_[name] = std::move(tensor);
    } else if (field->number == 12 && field->has_length) {
      outputs.push_back(value_name(field->bytes, source_));
      output_fields_ += text_in(field->encoded);
    } else if (field->number == 11 && field->has_length) {
      slots.emplace_back(value_name(field->bytes, source_), text_in(field->encoded));
    } else if (field->number != kShapesOfValues) {
      graph_fields_ += text_in(field->encoded);
    }
  }
  for (const auto& [name, encoded] : slots) {
    if (weights_.contains(name)) continue;
    inputs.push_back(name);
    input_fields_ += encoded;
  }
}

const OnnxTensor* OnnxNetwork::find_weight(const std::string& name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? nullptr : &found->second;
}

void OnnxNetwork::set_weight(OnnxTensor tensor) {
  const std::string name = tensor.name;
  weights_[name] = std::move(tensor);
}

void OnnxNetwork::write(const Sink& sink, std::span<const std::string> extra_outputs) const {
  std::set<std::string> used(outputs.begin(), outputs.end());
  std::string start;
  for (const OnnxNode& node : nodes) {
    start += encode_node(node);
    used.insert(node.inputs.begin(), node.inputs.end());
  }
  std::string end = graph_fields_ + input_fields_ + output_fields_;
  for (const std::string& name : extra_outputs) end += bytes_field(12, bytes_field(1, name));
  std::uint64_t size = start.size() + end.size();
  for (const auto& [name, tensor] : weights_) {
    const std::size_t length = tensor.message().size();
    if (used.contains(name)) size += length_field(5, length).size() + length;
  }
  std::string head = model_fields_;
  for (const auto& [key, value] : metadata) head += bytes_field(14, bytes_field(1, key) + bytes_field(2, value));
  head += length_field(7, size) + start;
  sink(encoded_bytes(head));
  for (const auto& [name, tensor] : weights_) {
    if (!used.contains(name)) continue;
    sink(encoded_bytes(length_field(5, tensor.message().size())));
    sink(tensor.message());
  }
  sink(encoded_bytes(end));
}

}  // namespace annulus
