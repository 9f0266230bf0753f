// Rewrites the nodes of a plan one by one; names of new values are those of the old ones with an ending.
#include "annulus/vision/quantize/int8_network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/vision/onnx/protobuf.h"

namespace annulus {
namespace {

constexpr float kLevels = 255.0F;
constexpr double kLargestBias = 1 << 30;
constexpr float kLeastStep = 1e-15F;

struct Scale {
  float step = 1.0F;
  std::uint8_t zero = 0;
};

std::string axis_attribute(std::int64_t axis) {
  return bytes_field(5,
                     bytes_field(1, "axis") + number_field(3, static_cast<std::uint64_t>(axis)) + number_field(20, 2));
}

Scale scale_of(const ValueRange& range) {
  const float width = range.high - range.low;
  if (!(width > 0.0F)) return {};  // always 0
  Scale scale;
  scale.step = std::max(width / kLevels, kLeastStep);
  scale.zero = static_cast<std::uint8_t>(std::clamp(std::nearbyint(-range.low / scale.step), 0.0F, kLevels));
  return scale;
}

template <class T>
std::span<const std::byte> content_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

class Rewriter {
 public:
  Rewriter(OnnxNetwork& network, const Int8Plan& plan, const ActivationRanges& ranges, const Int8Weights& weights)
      : network_(network), plan_(plan), ranges_(ranges), largest_(weights.bits == 7 ? 64.0F : 127.0F) {}

  void run() {
    const std::vector<OnnxNode> old = std::exchange(network_.nodes, {});
    for (const std::string& name : network_.inputs) add_int8_form(name);
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (plan_.ends.contains(i)) continue;
      OnnxNode node = old[i];
      std::vector<std::string> results = node.outputs;
      if (plan_.gives_int8.contains(i)) {
        results = {result_of(old, i)};
        node.outputs = {results.front() + "/float"};
      }
      if (plan_.nodes.contains(i)) {
        for (std::string& input : node.inputs) {
          if (plan_.values.contains(input)) input = dequantised(input);
        }
        if (node.kind != "Add" && node.kind != "MaxPool") use_int8_weights(node, old[i].inputs.front());
      } else {
        for (std::string& input : node.inputs) {
          if (only_int8_.contains(input)) input = dequantised(input);
        }
      }
      network_.nodes.push_back(std::move(node));
      if (plan_.gives_int8.contains(i)) only_int8_.insert(results.front());
      for (const std::string& name : results) add_int8_form(name);
    }
  }

 private:
  // What a node's output is called after the Relu or Clip that a range replaces.
  std::string result_of(const std::vector<OnnxNode>& old, std::size_t number) const {
    for (const auto& [end, before] : plan_.ends) {
      if (before == number) return old[end].outputs.front();
    }
    return old[number].outputs.front();
  }

  const std::string& root_of(const std::string& value) const { return plan_.values.at(value); }

  Scale scale(const std::string& value) const {
    const auto found = ranges_.find(root_of(value));
    if (found == ranges_.end()) {
      fail(ErrorKind::kInput, "{}: expected a range for the value \"{}\", found none", network_.source(),
           root_of(value));
    }
    const ValueRange& range = found->second;
    if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > 0.0F || range.high < 0.0F) {
      fail(ErrorKind::kInput, "{}: expected a range around 0 for the value \"{}\", found {} to {}", network_.source(),
           root_of(value), range.low, range.high);
    }
    return scale_of(range);
  }

  void add(std::string kind, std::vector<std::string> inputs, std::string output, std::string attributes = {}) {
    OnnxNode node;
    node.kind = std::move(kind);
    node.name = output;
    node.inputs = std::move(inputs);
    node.outputs = {std::move(output)};
    node.attributes = std::move(attributes);
    network_.nodes.push_back(std::move(node));
  }

  std::string step_name(const std::string& value) const { return root_of(value) + "/step"; }
  std::string zero_name(const std::string& value) const { return root_of(value) + "/zero"; }

  void add_int8_form(const std::string& value) {
    if (!plan_.values.contains(value)) return;
    const Scale found = scale(value);
    network_.set_weight(make_floats(step_name(value), {}, std::span(&found.step, 1)));
    network_.set_weight(make_tensor(zero_name(value), {}, kOnnxUint8, std::as_bytes(std::span(&found.zero, 1))));
    const std::string exact = only_int8_.contains(value) ? value + "/float" : value;
    add("QuantizeLinear", {exact, step_name(value), zero_name(value)}, value + "/int8");
  }

  // Every user has a node of its own: the runtime fuses only those that nobody else uses.
  std::string dequantised(const std::string& value) {
    const std::string output = value + "/back_" + std::to_string(users_[value]++);
    add("DequantizeLinear", {value + "/int8", step_name(value), zero_name(value)}, output);
    return output;
  }

  // Steps of the weights of each output channel; a step so small that the bias would not fit 32 bits is widened.
  std::vector<float> weight_steps(std::span<const float> values, std::size_t channels, std::size_t stride,
                                  std::span<const float> bias, float input_step) const {
    std::vector<float> most(channels, 0.0F);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float& top = most[(i / stride) % channels];
      top = std::max(top, std::fabs(values[i]));
    }
    for (std::size_t c = 0; c < channels; ++c) {
      if (!std::isfinite(most[c])) {
        fail(ErrorKind::kInput, "{}: expected finite weights, found others", network_.source());
      }
      const double room =
          bias.empty() ? 0.0
                       : std::fabs(static_cast<double>(bias[c])) / (kLargestBias * static_cast<double>(input_step));
      most[c] = std::max({most[c] / largest_, static_cast<float>(room), kLeastStep});
    }
    return most;
  }

  void use_int8_weights(OnnxNode& node, const std::string& input) {
    const std::string stem = node.outputs.front();
    const OnnxTensor& old = *network_.find_weight(node.inputs[1]);
    const std::vector<std::int64_t> shape = old.shape;
    const std::vector<float> values = *float_values(old, network_.source());
    const bool last = node.kind == "MatMul" || (node.kind == "Gemm" && node.integer("transB", 0) == 0);
    const std::int64_t axis = last ? static_cast<std::int64_t>(shape.size()) - 1 : 0;
    const auto channels = static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
    const std::size_t stride = last ? 1 : values.size() / channels;
    std::vector<float> bias;
    if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
      bias = *float_values(*network_.find_weight(node.inputs[2]), network_.source());
      bias.resize(channels, bias.size() == 1 ? bias.front() : 0.0F);
    }
    const float input_step = scale(input).step;
    const std::vector<float> steps = weight_steps(values, channels, stride, bias, input_step);
    std::vector<std::int8_t> rounded(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float step = steps[(i / stride) % channels];
      rounded[i] = static_cast<std::int8_t>(std::clamp(std::nearbyint(values[i] / step), -largest_, largest_));
    }
    add_constant(stem + "/weight", shape, kOnnxInt8, content_of(rounded), steps, axis);
    node.inputs[1] = stem + "/weight";
    if (bias.empty()) return;
    std::vector<float> bias_steps(channels);
    std::vector<std::int32_t> bias_rounded(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      bias_steps[c] = steps[c] * input_step;
      bias_rounded[c] =
          static_cast<std::int32_t>(std::nearbyint(static_cast<double>(bias[c]) / static_cast<double>(bias_steps[c])));
    }
    add_constant(stem + "/bias", {static_cast<std::int64_t>(channels)}, kOnnxInt32, content_of(bias_rounded),
                 bias_steps, 0);
    node.inputs[2] = stem + "/bias";
  }

  // A constant of whole numbers, and the node that makes floats of it.
  void add_constant(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t type,
                    std::span<const std::byte> content, const std::vector<float>& steps, std::int64_t axis) {
    const auto channels = static_cast<std::int64_t>(steps.size());
    const std::size_t width = type == kOnnxInt32 ? sizeof(std::int32_t) : 1;
    network_.set_weight(make_tensor(name + "/int", shape, type, content));
    network_.set_weight(make_floats(name + "/step", {channels}, steps));
    const std::vector<std::byte> zeros(steps.size() * width, std::byte{0});
    network_.set_weight(make_tensor(name + "/zero", {channels}, type, zeros));
    add("DequantizeLinear", {name + "/int", name + "/step", name + "/zero"}, name, axis_attribute(axis));
  }

  OnnxNetwork& network_;
  const Int8Plan& plan_;
  const ActivationRanges& ranges_;
  float largest_;
  std::set<std::string> only_int8_;  // values that are there in eight bits alone
  std::map<std::string, int> users_;
};

}  // namespace

void make_int8(OnnxNetwork& network, const Int8Plan& plan, const ActivationRanges& ranges, const Int8Weights& weights) {
  Rewriter(network, plan, ranges, weights).run();
}

}  // namespace annulus
