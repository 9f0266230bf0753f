// TensorFlow operators of a TensorFlow.js graph-model.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "annulus/base/base64.h"
#include "annulus/base/error.h"
#include "annulus/vision/import/tfjs_builder.h"
#include "annulus/vision/import/tfjs_weights.h"

namespace annulus {
namespace {

using Json = nlohmann::json;

// 64-bit integers are text in the JSON form of protocol buffers.
std::int64_t integer_of(const Json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : whole_number(value);
}

class GraphBuilder {
 public:
  GraphBuilder(const Json& topology, TfjsBuilder& builder, int image_size)
      : builder_(builder), image_size_(image_size == 0 ? 224 : image_size) {
    for (const Json& node : topology.at("node")) nodes_[node.at("name").get<std::string>()] = &node;
  }

  TfjsGraph build() {
    const std::string end = find_output();
    for (const std::string& name : order_from(end)) {
      if (const auto value = convert(name, *nodes_.at(name))) values_[name] = *value;
    }
    const auto found = values_.find(end);
    if (found == values_.end()) reject("its output \"{}\" does not depend on an image", end);
    if (!pooled_) {
      builder_.finish(found->second, nullptr);
    } else {
      builder_.finish(*pooled_, pooled_name_ == end ? nullptr : &found->second);
    }
    return {"", image_size_};
  }

 private:
  template <class... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::kInput, "{}: {}", builder_.weights().source(), fmt::format(format, std::forward<Args>(args)...));
  }

  // Names of a node's inputs, without the output number; control inputs carry no value.
  static std::vector<std::string> inputs_of(const Json& node) {
    std::vector<std::string> names;
    if (!node.contains("input")) return names;
    for (const Json& input : node.at("input")) {
      const auto name = input.get<std::string>();
      if (!name.starts_with('^')) names.push_back(name.substr(0, name.find(':')));
    }
    return names;
  }

  // The node that no other node reads.
  std::string find_output() const {
    std::set<std::string> read;
    for (const auto& [name, node] : nodes_) {
      for (const std::string& input : inputs_of(*node)) read.insert(input);
    }
    std::string output;
    for (const auto& [name, node] : nodes_) {
      if (read.contains(name) || node->at("op") == "Const") continue;
      if (!output.empty()) reject("expected one output, found \"{}\" and \"{}\"", output, name);
      output = name;
    }
    if (output.empty()) reject("it has no output");
    return output;
  }

  // Depth first without recursion: files may be deeper than the stack.
  std::vector<std::string> order_from(const std::string& end) const {
    std::vector<std::string> order;
    std::map<std::string, bool> done;  // false: its inputs are being visited
    std::vector<std::string> open = {end};
    while (!open.empty()) {
      const std::string name = open.back();
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) reject("a node reads \"{}\", which does not exist", name);
      const auto [state, first_visit] = done.try_emplace(name, false);
      if (!first_visit) {
        open.pop_back();
        if (!state->second) order.push_back(name);
        state->second = true;
        continue;
      }
      for (const std::string& input : inputs_of(*node->second)) {
        const auto visited = done.find(input);
        if (visited == done.end()) open.push_back(input);
        if (visited != done.end() && !visited->second) reject("node \"{}\" depends on itself", input);
      }
    }
    return order;
  }

  // Text is base64 in the JSON form of protocol buffers.
  static std::string text_attribute(const Json& node, const char* name) {
    return base64_decoded(node.at("attr").at(name).at("s").get<std::string>());
  }
  // {1, height, width, 1}
  Extent extent_attribute(const Json& node, const char* name) const {
    if (!node.at("attr").contains(name)) return {};
    const Json& list = node.at("attr").at(name).at("list").at("i");
    const Extent extent{integer_of(list.at(1)), integer_of(list.at(2))};
    if (std::min(extent.height, extent.width) < 1 || std::max(extent.height, extent.width) > (1 << 16)) {
      reject("a window of {}x{} makes no sense", extent.height, extent.width);
    }
    return extent;
  }
  bool same_attribute(const Json& node) const {
    const std::string padding = text_attribute(node, "padding");
    if (padding != "SAME" && padding != "VALID") reject("padding {} is not supported", padding);
    return padding == "SAME";
  }

  const TfjsValue& value(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) reject("expected \"{}\" to depend on the image", name);
    return found->second;
  }

  // Nothing for constants, which are looked up where they are used.
  std::optional<TfjsValue> convert(const std::string& name, const Json& node) {
    const auto operation = node.at("op").get<std::string>();
    if (operation == "Const") return std::nullopt;
    const auto inputs = inputs_of(node);
    if (operation == "Placeholder") return placeholder(name);
    if (inputs.empty()) reject("node \"{}\" has no input", name);
    if (node.contains("attr") && node.at("attr").contains("data_format") &&
        text_attribute(node, "data_format") != "NHWC") {
      reject("node \"{}\" is not channels last", name);
    }
    if (operation == "Mul" || operation == "Sub" || operation == "Add" || operation == "AddV2") {
      return arithmetic(operation, inputs);
    }
    const TfjsValue& x = value(inputs[0]);
    if (operation == "_FusedConv2D" || operation == "Conv2D") return convolution(node, inputs, false);
    if (operation == "DepthwiseConv2dNative" || operation == "FusedDepthwiseConv2dNative") {
      return convolution(node, inputs, true);
    }
    if (operation == "BiasAdd") return bias_add(x, inputs.at(1));
    if (operation == "Relu" || operation == "Relu6")
      return builder_.activation(x, operation == "Relu" ? "relu" : "relu6");
    if (operation == "FusedBatchNorm" || operation == "FusedBatchNormV2" || operation == "FusedBatchNormV3") {
      return batch_norm(node, inputs);
    }
    if (operation == "MaxPool" || operation == "AvgPool") return pool(node, operation == "MaxPool", name, x);
    if (operation == "Mean") return mean(name, node, inputs);
    if (operation == "MatMul") return builder_.dense(x, inputs.at(1), "");
    if (operation == "Identity" || operation == "Softmax") return x;
    if (operation == "Squeeze" || operation == "Reshape") return flattened(name, x);
    reject("node \"{}\" is of the unsupported kind {}", name, operation);
  }

  TfjsValue placeholder(const std::string& name) {
    if (!input_.empty()) reject("expected one input, found \"{}\" and \"{}\"", input_, name);
    input_ = name;
    builder_.model().input("pixel_values", {-1, 3, image_size_, image_size_});
    return {{"pixel_values", 3, image_size_, image_size_}, false, {}};
  }

  TfjsValue convolution(const Json& node, const std::vector<std::string>& inputs, bool depthwise) {
    Window window;
    window.stride = extent_attribute(node, "strides");
    window.dilation = extent_attribute(node, "dilations");
    std::vector<std::string> fused;
    if (node.at("attr").contains("fused_ops")) {
      for (const Json& operation : node.at("attr").at("fused_ops").at("list").at("s")) {
        fused.push_back(base64_decoded(operation.get<std::string>()));
      }
    }
    const bool has_bias = !fused.empty() && fused[0] == "BiasAdd";
    TfjsValue y = builder_.convolution(value(inputs[0]), inputs.at(1), has_bias ? inputs.at(2) : "", window,
                                       same_attribute(node), depthwise);
    for (std::size_t i = has_bias ? 1 : 0; i < fused.size(); ++i) {
      if (fused[i] != "Relu" && fused[i] != "Relu6") reject("the fused operation {} is not supported", fused[i]);
      y = builder_.activation(y, fused[i] == "Relu" ? "relu" : "relu6");
    }
    return y;
  }

  TfjsValue batch_norm(const Json& node, const std::vector<std::string>& inputs) {
    TfjsValue y = value(inputs[0]);
    const auto part = [&](std::size_t index) { return builder_.vector(inputs.at(index), y.map.channels); };
    y.map = builder_.layers().batch_norm(y.map, part(1), part(2), part(3), part(4),
                                         node.at("attr").at("epsilon").at("f").get<float>());
    return y;
  }

  TfjsValue pool(const Json& node, bool maximum, const std::string& name, const TfjsValue& x) {
    Window window;
    window.kernel = extent_attribute(node, "ksize");
    window.stride = extent_attribute(node, "strides");
    const TfjsValue y = builder_.pool(x, window, same_attribute(node), maximum);
    if (!maximum && y.map.height == 1 && y.map.width == 1) remember_pooled(name, y);
    return y;
  }

  TfjsValue mean(const std::string& name, const Json& node, const std::vector<std::string>& inputs) {
    if (builder_.weights().read_integers(inputs.at(1)) != std::vector<std::int64_t>{1, 2}) {
      reject("node \"{}\" averages over other axes than height and width", name);
    }
    builder_.mark_used(inputs.at(1));
    TfjsValue y = builder_.settled(value(inputs[0]));
    y.map = {builder_.model().node("GlobalAveragePool", {y.map.name}), y.map.channels, 1, 1};
    const Json& attributes = node.at("attr");
    const bool keep = attributes.contains("keep_dims") && attributes.at("keep_dims").value("b", false);
    if (!keep) y = flattened(name, y);
    remember_pooled(name, y);
    return y;
  }

  // The last global pool gives the features; the classifier follows it.
  void remember_pooled(const std::string& name, const TfjsValue& x) {
    pooled_ = x;
    pooled_name_ = name;
  }

  TfjsValue flattened(const std::string& name, const TfjsValue& x) {
    if (x.rows) return x;
    if (x.map.height != 1 || x.map.width != 1) reject("node \"{}\" reshapes a feature map", name);
    return {
        {builder_.model().node("Flatten", {x.map.name}, {{"axis", std::int64_t{1}}}), x.map.channels, 1, 1}, true, {}};
  }

  // A constant of one number, or of one a channel, shaped to fit.
  std::string operand(const std::string& name, const TfjsValue& x) {
    const StoredTensor* tensor = builder_.weights().find(name);
    if (tensor == nullptr || tensor->type != NumberType::kFloat32) reject("expected \"{}\" to be a constant", name);
    const std::size_t count = element_count(tensor->shape, name);
    if (count != 1 && (tensor->shape.size() != 1 || tensor->shape[0] != x.map.channels)) {
      reject("constant \"{}\" of shape {} does not fit {} channels", name, dimensions_text(tensor->shape),
             x.map.channels);
    }
    OnnxModel::Shape shape;
    if (count != 1) shape = x.rows ? OnnxModel::Shape{x.map.channels} : OnnxModel::Shape{x.map.channels, 1, 1};
    builder_.mark_used(name);
    if (shaped_.insert(name).second) {
      builder_.model().weight(name + "/operand", shape,
                              [file = &builder_.weights(), name] { return file->read_floats(name); });
    }
    return name + "/operand";
  }

  TfjsValue bias_add(const TfjsValue& x, const std::string& bias) {
    TfjsValue y = x;
    y.map.name = builder_.model().node("Add", {x.map.name, operand(bias, x)});
    return y;
  }

  TfjsValue arithmetic(const std::string& operation, const std::vector<std::string>& inputs) {
    const bool left = values_.contains(inputs.at(0));
    const bool right = values_.contains(inputs.at(1));
    const bool is_add = operation == "Add" || operation == "AddV2";
    if (left && right && is_add) {
      return {builder_.layers().add(value(inputs[0]).map, value(inputs[1]).map), value(inputs[0]).rows, {}};
    }
    if (left == right || (!left && operation == "Sub"))
      reject("{} of \"{}\" and \"{}\" is not supported", operation, inputs[0], inputs[1]);
    const TfjsValue& x = value(inputs[left ? 0 : 1]);
    TfjsValue y = x;
    y.map.name = builder_.model().node(is_add ? "Add" : operation, {x.map.name, operand(inputs[left ? 1 : 0], x)});
    return y;
  }

  TfjsBuilder& builder_;
  std::map<std::string, const Json*> nodes_;
  int image_size_;
  std::string input_;
  std::map<std::string, TfjsValue> values_;
  std::set<std::string> shaped_;
  std::optional<TfjsValue> pooled_;
  std::string pooled_name_;
};

}  // namespace

TfjsGraph build_tfjs_graph(const Json& topology, TfjsBuilder& builder, int image_size) {
  return GraphBuilder(topology, builder, image_size).build();
}

}  // namespace annulus
