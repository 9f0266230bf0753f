// Walks the nodes in order and follows which values are there in eight bits.
#include "annulus/vision/quantize/int8_plan.h"

#include <algorithm>
#include <optional>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::uint64_t kLeastInt8Opset = 13;  // the first whose QuantizeLinear knows channels

bool is_layer(const OnnxNode& node) {
  return node.domain.empty() && (node.kind == "Conv" || node.kind == "Gemm" || node.kind == "MatMul");
}

class Planner {
 public:
  explicit Planner(const OnnxNetwork& network) : network_(network) {
    for (std::size_t i = 0; i < network.nodes.size(); ++i) {
      for (const std::string& name : network.nodes[i].inputs) users_[name].push_back(i);
    }
    results_.insert(network.outputs.begin(), network.outputs.end());
    from_image_.insert(network.inputs.begin(), network.inputs.end());
  }

  Int8Plan run() {
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      const OnnxNode& node = network_.nodes[i];
      if (is_layer(node)) {
        add_layer(i);
      } else if (node.domain.empty() && node.kind == "Add") {
        add_sum(i);
      } else if (node.domain.empty() && node.kind == "MaxPool" && node.outputs.size() == 1 &&
                 from_int8_.contains(node.inputs.front()) && !results_.contains(node.outputs.front())) {
        plan_.nodes.insert(i);
        plan_.gives_int8.insert(i);
        plan_.values[node.outputs.front()] = plan_.values.at(node.inputs.front());
        from_int8_.insert(node.outputs.front());
      }
      const bool image = std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](const std::string& name) { return from_image_.contains(name); });
      if (image && !is_layer(node)) from_image_.insert(node.outputs.begin(), node.outputs.end());
    }
    std::set<std::string> ranged;
    for (const auto& [value, root] : plan_.values) ranged.insert(root);
    plan_.ranged.assign(ranged.begin(), ranged.end());
    return std::move(plan_);
  }

 private:
  bool constant(const std::string& name, std::size_t axes) const {
    const OnnxTensor* const tensor = network_.find_weight(name);
    return tensor != nullptr && tensor->type == kOnnxFloat && tensor->shape.size() == axes &&
           float_values(*tensor, network_.source()).has_value();
  }

  bool fits(const OnnxNode& node) const {
    const std::size_t inputs = node.inputs.size();
    if (inputs < 2 || node.outputs.size() != 1) return false;
    const bool bias = inputs > 2 && !node.inputs[2].empty();
    if (bias && !constant(node.inputs[2], 1)) return false;
    if (node.kind == "Conv") return constant(node.inputs[1], 4);
    if (!constant(node.inputs[1], 2)) return false;
    if (node.kind == "MatMul") return true;
    return node.real("alpha", 1.0F) == 1.0F && node.real("beta", 1.0F) == 1.0F && node.integer("transA", 0) == 0;
  }

  // The Relu or Clip from 0 up that is the only user of a value.
  std::optional<std::size_t> end_after(const std::string& value) const {
    const auto found = users_.find(value);
    if (found == users_.end() || found->second.size() != 1 || results_.contains(value)) return std::nullopt;
    const OnnxNode& user = network_.nodes[found->second.front()];
    if (!user.domain.empty() || user.outputs.size() != 1 || results_.contains(user.outputs.front())) {
      return std::nullopt;
    }
    if (user.kind == "Relu") return found->second.front();
    if (user.kind != "Clip" || user.inputs.size() != 3) return std::nullopt;
    const OnnxTensor* const low = network_.find_weight(user.inputs[1]);
    const auto from = low == nullptr ? std::nullopt : float_values(*low, network_.source());
    if (!from || from->size() != 1 || from->front() != 0.0F || network_.find_weight(user.inputs[2]) == nullptr) {
      return std::nullopt;
    }
    return found->second.front();
  }

  void gives(std::size_t number) {
    std::string value = network_.nodes[number].outputs.front();
    if (const auto end = end_after(value)) {
      plan_.ends[*end] = number;
      value = network_.nodes[*end].outputs.front();
    }
    plan_.gives_int8.insert(number);
    plan_.values[value] = value;
    from_int8_.insert(value);
  }

  void add_layer(std::size_t number) {
    const OnnxNode& node = network_.nodes[number];
    if (!fits(node) || from_image_.contains(node.inputs.front())) return;
    if (network_.find_weight(node.inputs.front()) != nullptr) return;
    const bool convolution = node.kind == "Conv";
    if (convolution && results_.contains(node.outputs.front())) return;
    plan_.nodes.insert(number);
    plan_.values.emplace(node.inputs.front(), node.inputs.front());
    if (convolution) gives(number);
  }

  void add_sum(std::size_t number) {
    const OnnxNode& node = network_.nodes[number];
    const bool both =
        node.inputs.size() == 2 && from_int8_.contains(node.inputs[0]) && from_int8_.contains(node.inputs[1]);
    if (!both || results_.contains(node.outputs.front())) return;
    plan_.nodes.insert(number);
    gives(number);
  }

  const OnnxNetwork& network_;
  std::map<std::string, std::vector<std::size_t>> users_;
  std::set<std::string> results_;
  std::set<std::string> from_image_;  // values that no layer has worked on
  std::set<std::string> from_int8_;   // values that come from operators on eight bits
  Int8Plan plan_;
};

}  // namespace

Int8Plan plan_int8(const OnnxNetwork& network) {
  const auto opset = network.opsets.find("");
  if (opset == network.opsets.end() || opset->second < kLeastInt8Opset) {
    fail(ErrorKind::kInput, "{}: expected a network of ONNX's operator set {} or newer to make int8 of, found {}",
         network.source(), kLeastInt8Opset, opset == network.opsets.end() ? 0 : opset->second);
  }
  for (const OnnxNode& node : network.nodes) {
    if (node.kind == "QuantizeLinear" || node.kind == "DequantizeLinear" || node.kind == "DynamicQuantizeLinear") {
      fail(ErrorKind::kInput, "{}: expected a network of float weights to make int8 of, found one with {}",
           network.source(), node.kind);
    }
  }
  Int8Plan plan = Planner(network).run();
  if (plan.nodes.empty()) {
    fail(ErrorKind::kInput,
         "{}: expected convolutions or matrix products with constant float weights after the first layer, found none "
         "that int8 could speed up",
         network.source());
  }
  return plan;
}

}  // namespace annulus
