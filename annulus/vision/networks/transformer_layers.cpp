// Few, large operators, spelled as ONNX Runtime fuses them.
#include "annulus/vision/networks/transformer_layers.h"

#include <cmath>
#include <utility>

namespace annulus {

std::string TransformerLayers::linear(const std::string& x, const std::string& name, std::int64_t outputs,
                                      std::int64_t inputs, Fill weight, Fill bias) {
  return model_.node("Gemm",
                     {x, model_.weight(name + ".weight", {outputs, inputs}, std::move(weight)),
                      model_.weight(name + ".bias", {outputs}, std::move(bias))},
                     {{"transB", std::int64_t{1}}});
}

std::string TransformerLayers::linear(const std::string& x, const std::string& name, std::int64_t outputs,
                                      std::int64_t inputs, const std::string& scale) {
  Fill weight = tensors_.need(name + ".weight", {outputs, inputs});
  Fill bias = tensors_.need(name + ".bias", {outputs});
  if (!scale.empty()) {
    const Fill factors = tensors_.need(scale, {outputs});
    weight = scale_each_row(weight, factors, static_cast<std::size_t>(inputs));
    bias = scale_each_row(bias, factors, 1);
  }
  return linear(x, name, outputs, inputs, std::move(weight), std::move(bias));
}

std::string TransformerLayers::norm(const std::string& x, const std::string& name, std::int64_t width, float epsilon,
                                    const std::string& output) {
  const auto vector = [&](const std::string& tensor) {
    return model_.weight(tensor, {width}, tensors_.need(tensor, {width}));
  };
  return model_.node("LayerNormalization", {x, vector(name + ".weight"), vector(name + ".bias")},
                     {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}}, output);
}

std::string TransformerLayers::activation(const std::string& x, Activation kind) {
  if (kind == Activation::kTanh) return model_.runtime_node("FastGelu", {x});
  if (kind == Activation::kQuick) {
    const std::string scaled = model_.node("Mul", {x, scalar("quick_gelu_slope", 1.702F)});
    return model_.node("Mul", {x, model_.node("Sigmoid", {scaled})});
  }
  const std::string error = model_.node("Erf", {model_.node("Div", {x, scalar("root_two", std::sqrt(2.0F))})});
  const std::string gated = model_.node("Mul", {x, model_.node("Add", {error, scalar("float_one", 1.0F)})});
  return model_.node("Mul", {gated, scalar("float_half", 0.5F)});
}

std::string TransformerLayers::silu(const std::string& x) {
  return model_.node("Mul", {x, model_.node("Sigmoid", {x})});
}

std::string TransformerLayers::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  if (constants_.insert(name).second) model_.integers(name, values);
  return name;
}

std::string TransformerLayers::scalar(const std::string& name, float value) {
  if (constants_.insert(name).second) model_.floats(name, {}, {value});
  return name;
}

std::string TransformerLayers::reshape(const std::string& x, const std::vector<std::int64_t>& shape) {
  std::string name = "shape";
  for (const std::int64_t length : shape) name += "_" + (length < 0 ? "free" : std::to_string(length));
  return model_.node("Reshape", {x, integers(name, shape)});
}

std::string TransformerLayers::transpose(const std::string& x, const std::vector<std::int64_t>& order) {
  return model_.node("Transpose", {x}, {{"perm", order}});
}

std::string TransformerLayers::attention(const std::string& query, const std::string& key, const std::string& value,
                                         int heads) {
  return model_.runtime_node("MultiHeadAttention", {query, key, value}, {{"num_heads", std::int64_t{heads}}});
}

}  // namespace annulus
