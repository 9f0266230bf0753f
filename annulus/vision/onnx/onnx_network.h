// An ONNX model taken apart into nodes and weights, so that it can be changed and written again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annulus {

struct OnnxNode {
  std::string kind;    // "Conv"
  std::string domain;  // empty: ONNX's own
  std::string name;
  std::vector<std::string> inputs;  // an empty name: an optional input that is absent
  std::vector<std::string> outputs;
  std::string attributes;  // encoded fields

  // A number in the attributes; `fallback` where there is none by this name.
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  float real(std::string_view attribute, float fallback) const;
};

struct OnnxTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t type = 0;              // TensorProto.DataType
  std::span<const std::byte> encoded;  // the message as it was read; empty for a tensor that was made since
  std::string made;                    // the message of a tensor that was made

  std::span<const std::byte> message() const;
};

// The types of numbers that weights have here.
inline constexpr std::uint64_t kOnnxFloat = 1;
inline constexpr std::uint64_t kOnnxUint8 = 2;
inline constexpr std::uint64_t kOnnxInt8 = 3;
inline constexpr std::uint64_t kOnnxInt32 = 6;

OnnxTensor make_tensor(std::string name, std::vector<std::int64_t> shape, std::uint64_t type,
                       std::span<const std::byte> content);
OnnxTensor make_floats(std::string name, std::vector<std::int64_t> shape, std::span<const float> values);

// The values of a float tensor; nothing for another type, and for values stored in a way that is not read here.
std::optional<std::vector<float>> float_values(const OnnxTensor& tensor, const std::string& source);

class OnnxNetwork {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  // `file` must outlive the network. Throws Error{kFormat} for a file that is no ONNX model, and Error{kInput} for one
  // whose weights are in another file.
  static OnnxNetwork read(std::span<const std::byte> file, const std::string& source);

  // In an order in which they can be run.
  std::vector<OnnxNode> nodes;
  std::vector<std::string> inputs;  // that are no weights
  std::vector<std::string> outputs;
  std::map<std::string, std::uint64_t> opsets;                // by domain; "" is ONNX's own
  std::vector<std::pair<std::string, std::string>> metadata;  // added at the end; the file's own stays

  const std::string& source() const { return source_; }
  const OnnxTensor* find_weight(const std::string& name) const;
  // Adds a weight, or takes the place of the one of its name.
  void set_weight(OnnxTensor tensor);

  // Writes the model. Weights that no node uses any more are left out. Values in `extra_outputs` become outputs.
  void write(const Sink& sink, std::span<const std::string> extra_outputs = {}) const;

 private:
  void read_graph(std::span<const std::byte> bytes);

  std::string source_;
  std::string model_fields_;  // but the graph
  std::string graph_fields_;  // but nodes, weights, inputs and outputs
  std::string input_fields_;
  std::string output_fields_;
  std::map<std::string, OnnxTensor> weights_;
};

}  // namespace annulus
