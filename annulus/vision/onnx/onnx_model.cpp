// Encodes ONNX's protocol-buffer messages; field numbers are those of onnx.proto, IR version 8.
#include "annulus/vision/onnx/onnx_model.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/onnx/protobuf.h"

namespace annulus {
namespace {

constexpr const char* kRuntimeDomain = "com.microsoft";
constexpr std::uint64_t kFloatType = 1;
constexpr std::uint64_t kInt64Type = 7;
constexpr std::uint64_t kTextType = 8;

static_assert(std::endian::native == std::endian::little, "raw tensor data is little-endian");

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

std::string encode_value_info(const std::string& name, const OnnxModel::Shape& shape, std::uint64_t type) {
  std::string dimensions;
  for (const std::int64_t length : shape) {
    dimensions +=
        bytes_field(1, length < 0 ? bytes_field(2, "batch") : number_field(1, static_cast<std::uint64_t>(length)));
  }
  const std::string tensor_type = number_field(1, type) + bytes_field(2, dimensions);
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
  inputs_ += bytes_field(11, encode_value_info(name, shape, kFloatType));
}

void OnnxModel::output(const std::string& name, const Shape& shape) {
  outputs_ += bytes_field(12, encode_value_info(name, shape, kFloatType));
}

void OnnxModel::text_output(const std::string& name, const Shape& shape) {
  outputs_ += bytes_field(12, encode_value_info(name, shape, kTextType));
}

void OnnxModel::metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

std::string OnnxModel::weight(const std::string& name, const Shape& shape, Fill fill) {
  initializers_.push_back({name, shape, std::move(fill)});
  return name;
}

std::string OnnxModel::floats(const std::string& name, const Shape& shape, std::vector<float> values) {
  return weight(name, shape, [values = std::move(values)] { return values; });
}

std::string OnnxModel::integers(const std::string& name, std::vector<std::int64_t> values) {
  const auto length = static_cast<std::int64_t>(values.size());
  initializers_.push_back({name, {length}, std::move(values)});
  return name;
}

std::string OnnxModel::texts(const std::string& name, std::vector<std::string> values) {
  const auto length = static_cast<std::int64_t>(values.size());
  initializers_.push_back({name, {length}, std::move(values)});
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

std::vector<std::string> OnnxModel::nodes(const std::string& operator_name, const std::vector<std::string>& inputs,
                                          const std::vector<OnnxAttribute>& attributes, std::size_t outputs) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outputs; ++i) names.push_back(fresh_name(operator_name));
  add_node("", operator_name, inputs, attributes, names);
  return names;
}

std::vector<std::string> OnnxModel::split(const std::string& x, std::size_t parts, std::int64_t axis) {
  return nodes("Split", {x}, {{"axis", axis}}, parts);
}

std::string OnnxModel::runtime_node(const std::string& operator_name, const std::vector<std::string>& inputs,
                                    const std::vector<OnnxAttribute>& attributes) {
  const std::string output = fresh_name(operator_name);
  add_node(kRuntimeDomain, operator_name, inputs, attributes, {output});
  uses_runtime_domain_ = true;
  return output;
}

std::string OnnxModel::reduce(const std::string& operator_name, const std::string& x,
                              const std::vector<std::int64_t>& axes, bool keep) {
  constexpr std::uint64_t kAxesAreInput = 18;  // an attribute before
  const OnnxAttribute keeps{"keepdims", static_cast<std::int64_t>(keep)};
  if (opset_ < kAxesAreInput) return node(operator_name, {x}, {{"axes", axes}, keeps});
  return node(operator_name, {x, integers(fresh_name("axes"), axes)}, {keeps});
}

void OnnxModel::embed(OnnxGraph graph) {
  constexpr std::uint64_t kWeightsNeedNoInput = 4;  // older versions list every weight among the inputs as well
  for (const OnnxGraph& other : embedded_) {
    for (const auto& [domain, version] : graph.opsets) {
      const auto found = other.opsets.find(domain);
      if (found == other.opsets.end() || found->second == version) continue;
      fail(ErrorKind::kInput, "expected networks of the same ONNX operator set in one file, found {} and {}{}",
           found->second, version, domain.empty() ? "" : " of " + domain);
    }
  }
  nodes_ += graph.nodes;
  ir_version_ = std::max({graph.ir_version, kWeightsNeedNoInput, embedded_.empty() ? 0 : ir_version_});
  if (const auto own = graph.opsets.find(""); own != graph.opsets.end()) opset_ = own->second;
  embedded_.push_back(std::move(graph));
}

std::uint64_t OnnxModel::content_size(const Initializer& tensor) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&tensor.values)) {
    return integers->size() * sizeof(std::int64_t);
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&tensor.values)) {
    std::uint64_t size = 0;
    for (const std::string& text : *texts) size += length_field(6, text.size()).size() + text.size();
    return size;
  }
  return count_elements(tensor.shape) * sizeof(float);
}

// Everything of a tensor's message but its content, which comes last.
std::string OnnxModel::header_of(const Initializer& tensor) {
  constexpr std::uint64_t kTypes[] = {kFloatType, kInt64Type, kTextType};  // in the order of the variant
  const std::uint64_t size = content_size(tensor);
  std::string header;
  for (const std::int64_t length : tensor.shape) header += number_field(1, static_cast<std::uint64_t>(length));
  header += number_field(2, kTypes[tensor.values.index()]) + bytes_field(8, tensor.name);
  if (!std::holds_alternative<std::vector<std::string>>(tensor.values)) header += length_field(9, size);
  return length_field(5, header.size() + size) + header;
}

void OnnxModel::write_content(const Initializer& tensor, const Sink& sink) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&tensor.values)) {
    sink(std::as_bytes(std::span(*integers)));
    return;
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&tensor.values)) {
    std::string fields;
    for (const std::string& text : *texts) fields += bytes_field(6, text);
    sink(as_span(fields));
    return;
  }
  const std::vector<float> values = std::get<Fill>(tensor.values)();
  if (values.size() != count_elements(tensor.shape)) {
    fail(ErrorKind::kInternal, "weight {} has {} values for {} elements", tensor.name, values.size(),
         count_elements(tensor.shape));
  }
  sink(std::as_bytes(std::span(values)));
}

// The fields of the model around its graph.
std::string OnnxModel::model_fields() const {
  std::map<std::string, std::uint64_t> opsets;
  for (const OnnxGraph& graph : embedded_) opsets.insert(graph.opsets.begin(), graph.opsets.end());
  opsets[""] = opset_;
  if (uses_runtime_domain_) opsets[kRuntimeDomain] = 1;
  std::string fields = number_field(1, ir_version_) + bytes_field(2, "annulus");
  for (const auto& [domain, version] : opsets) fields += bytes_field(8, encode_opset(domain, version));
  for (const auto& [key, value] : metadata_) fields += bytes_field(14, bytes_field(1, key) + bytes_field(2, value));
  for (const OnnxGraph& graph : embedded_) fields += graph.functions;
  return fields;
}

void OnnxModel::write(const Sink& sink) const {
  const std::string graph_name = bytes_field(2, "annulus");
  std::uint64_t graph_size = nodes_.size() + graph_name.size() + inputs_.size() + outputs_.size();
  std::vector<std::string> headers;
  for (const Initializer& tensor : initializers_) {
    headers.push_back(header_of(tensor));
    graph_size += headers.back().size() + content_size(tensor);
  }
  for (const OnnxGraph& graph : embedded_) {
    for (const OnnxGraph::Weight& weight : graph.weights) {
      graph_size += length_field(5, weight.size()).size() + weight.size();
    }
  }
  constexpr std::uint64_t kLargestFile = std::numeric_limits<std::int32_t>::max() - (std::uint64_t{1} << 20);
  if (graph_size > kLargestFile) {
    fail(ErrorKind::kInput, "the network takes {} bytes, but an ONNX file can hold no more than 2 GB", graph_size);
  }

  sink(as_span(model_fields() + length_field(7, graph_size) + nodes_ + graph_name));
  for (std::size_t i = 0; i < initializers_.size(); ++i) {
    sink(as_span(headers[i]));
    write_content(initializers_[i], sink);
  }
  for (const OnnxGraph& graph : embedded_) {
    for (const OnnxGraph::Weight& weight : graph.weights) {
      sink(as_span(length_field(5, weight.size()) + weight.name_field));
      sink(weight.before);
      sink(weight.after);
    }
  }
  sink(as_span(inputs_ + outputs_));
}

}  // namespace annulus
