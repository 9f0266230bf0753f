// Encodes ONNX's protocol-buffer messages; field numbers are those of onnx.proto, IR version 8.
#include "annulus/vision/onnx_model.h"

#include <bit>
#include <limits>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::uint64_t kIrVersion = 8;
constexpr std::uint64_t kOpset = 17;
constexpr const char* kRuntimeDomain = "com.microsoft";
constexpr std::uint64_t kFloatType = 1;
constexpr std::uint64_t kInt64Type = 7;

static_assert(std::endian::native == std::endian::little, "raw tensor data is little-endian");

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number_field(std::uint32_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }
std::string length_field(std::uint32_t field, std::uint64_t length) { return varint(field << 3 | 2) + varint(length); }
std::string bytes_field(std::uint32_t field, const std::string& bytes) {
  return length_field(field, bytes.size()) + bytes;
}
std::string float_field(std::uint32_t field, float value) {
  std::string bytes = varint(field << 3 | 5);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}

std::string encode_attribute(const OnnxAttribute& attribute) {
  constexpr std::uint64_t kFloatAttribute = 1;
  constexpr std::uint64_t kIntAttribute = 2;
  constexpr std::uint64_t kIntsAttribute = 7;
  std::string bytes = bytes_field(1, attribute.name);
  if (const auto* real = std::get_if<float>(&attribute.value)) {
    bytes += float_field(2, *real) + number_field(20, kFloatAttribute);
  } else if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    bytes += number_field(3, static_cast<std::uint64_t>(*integer)) + number_field(20, kIntAttribute);
  } else {
    for (const std::int64_t value : std::get<std::vector<std::int64_t>>(attribute.value)) {
      bytes += number_field(8, static_cast<std::uint64_t>(value));
    }
    bytes += number_field(20, kIntsAttribute);
  }
  return bytes;
}

std::string encode_value_info(const std::string& name, const OnnxModel::Shape& shape) {
  std::string dimensions;
  for (const std::int64_t length : shape) {
    dimensions +=
        bytes_field(1, length < 0 ? bytes_field(2, "batch") : number_field(1, static_cast<std::uint64_t>(length)));
  }
  const std::string tensor_type = number_field(1, kFloatType) + bytes_field(2, dimensions);
  return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor_type));
}

std::string encode_opset(const std::string& domain, std::uint64_t version) {
  return (domain.empty() ? std::string() : bytes_field(1, domain)) + number_field(2, version);
}

std::uint64_t count_elements(const OnnxModel::Shape& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t length : shape) count *= static_cast<std::uint64_t>(length);
  return count;
}

std::span<const std::byte> as_span(const std::string& bytes) { return std::as_bytes(std::span(bytes)); }

}  // namespace

void OnnxModel::input(const std::string& name, const Shape& shape) {
  inputs_ += bytes_field(11, encode_value_info(name, shape));
}

void OnnxModel::output(const std::string& name, const Shape& shape) {
  outputs_ += bytes_field(12, encode_value_info(name, shape));
}

void OnnxModel::metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

std::string OnnxModel::weight(const std::string& name, const Shape& shape, Fill fill) {
  initializers_.push_back({name, shape, {}, std::move(fill)});
  return name;
}

std::string OnnxModel::floats(const std::string& name, const Shape& shape, std::vector<float> values) {
  return weight(name, shape, [values = std::move(values)] { return values; });
}

std::string OnnxModel::integers(const std::string& name, std::vector<std::int64_t> values) {
  const auto length = static_cast<std::int64_t>(values.size());
  initializers_.push_back({name, {length}, std::move(values), {}});
  return name;
}

std::string OnnxModel::fresh_name(const std::string& operator_name) {
  return operator_name + "_" + std::to_string(next_name_++);
}

void OnnxModel::add_node(const std::string& domain, const std::string& operator_name,
                         const std::vector<std::string>& inputs, const std::vector<OnnxAttribute>& attributes,
                         const std::vector<std::string>& outputs) {
  std::string bytes;
  for (const std::string& name : inputs) bytes += bytes_field(1, name);
  for (const std::string& name : outputs) bytes += bytes_field(2, name);
  bytes += bytes_field(3, outputs.front()) + bytes_field(4, operator_name);
  for (const OnnxAttribute& attribute : attributes) bytes += bytes_field(5, encode_attribute(attribute));
  if (!domain.empty()) bytes += bytes_field(7, domain);
  nodes_ += bytes_field(1, bytes);
}

std::string OnnxModel::node(const std::string& operator_name, const std::vector<std::string>& inputs,
                            const std::vector<OnnxAttribute>& attributes, const std::string& name) {
  const std::string output = name.empty() ? fresh_name(operator_name) : name;
  add_node("", operator_name, inputs, attributes, {output});
  return output;
}

std::vector<std::string> OnnxModel::split(const std::string& x, std::size_t parts, std::int64_t axis) {
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < parts; ++i) outputs.push_back(fresh_name("Split"));
  add_node("", "Split", {x}, {{"axis", axis}}, outputs);
  return outputs;
}

std::string OnnxModel::runtime_node(const std::string& operator_name, const std::vector<std::string>& inputs,
                                    const std::vector<OnnxAttribute>& attributes) {
  const std::string output = fresh_name(operator_name);
  add_node(kRuntimeDomain, operator_name, inputs, attributes, {output});
  uses_runtime_domain_ = true;
  return output;
}

void OnnxModel::write(const Sink& sink) const {
  // A weight's header: everything of its message but the raw numbers, which are the last field.
  std::vector<std::string> headers;
  std::uint64_t graph_size = nodes_.size() + inputs_.size() + outputs_.size();
  const std::string graph_name = bytes_field(2, "annulus");
  graph_size += graph_name.size();
  for (const Initializer& tensor : initializers_) {
    const bool is_float = tensor.integers.empty();
    const std::uint64_t raw_size = count_elements(tensor.shape) * (is_float ? sizeof(float) : sizeof(std::int64_t));
    std::string header;
    for (const std::int64_t length : tensor.shape) header += number_field(1, static_cast<std::uint64_t>(length));
    header += number_field(2, is_float ? kFloatType : kInt64Type) + bytes_field(8, tensor.name);
    header += length_field(9, raw_size);
    headers.push_back(length_field(5, header.size() + raw_size) + header);
    graph_size += headers.back().size() + raw_size;
  }
  constexpr std::uint64_t kLargestFile = std::numeric_limits<std::int32_t>::max() - (std::uint64_t{1} << 20);
  if (graph_size > kLargestFile) {
    fail(ErrorKind::kInput, "the network takes {} bytes, but an ONNX file can hold no more than 2 GB", graph_size);
  }

  std::string head = number_field(1, kIrVersion) + bytes_field(2, "annulus") + bytes_field(8, encode_opset("", kOpset));
  if (uses_runtime_domain_) head += bytes_field(8, encode_opset(kRuntimeDomain, 1));
  for (const auto& [key, value] : metadata_) head += bytes_field(14, bytes_field(1, key) + bytes_field(2, value));
  sink(as_span(head + length_field(7, graph_size) + nodes_ + graph_name));
  for (std::size_t i = 0; i < initializers_.size(); ++i) {
    sink(as_span(headers[i]));
    if (!initializers_[i].integers.empty()) {
      sink(std::as_bytes(std::span(initializers_[i].integers)));
      continue;
    }
    const std::vector<float> values = initializers_[i].fill();
    if (values.size() != count_elements(initializers_[i].shape)) {
      fail(ErrorKind::kInternal, "weight {} has {} values for {} elements", initializers_[i].name, values.size(),
           count_elements(initializers_[i].shape));
    }
    sink(std::as_bytes(std::span(values)));
  }
  sink(as_span(inputs_ + outputs_));
}

}  // namespace annulus
