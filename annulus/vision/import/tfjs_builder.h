// What the two kinds of TensorFlow.js models share when they are converted to ONNX.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "annulus/vision/import/tensor_file.h"
#include "annulus/vision/networks/convnet_builder.h"

namespace annulus {

// A value between layers: a feature map, or rows (batch x channels) after pooling.
struct TfjsValue {
  FeatureMap map;
  bool rows = false;
  Padding pending;  // zero padding that is not yet applied: a following convolution includes it
};

// Adds weights in ONNX's order and layers that need them.
class TfjsBuilder {
 public:
  TfjsBuilder(const TensorFile& weights, OnnxModel& model) : layers_(model), weights_(weights) {}

  // Kernels are height x width x in x out; depthwise ones height x width x in x multiplier. An empty bias means none.
  // same: TensorFlow's SAME padding, else none beyond the pending one.
  TfjsValue convolution(const TfjsValue& x, const std::string& kernel, const std::string& bias, Window window,
                        bool same, bool depthwise);
  // rows times an in x out kernel.
  TfjsValue dense(const TfjsValue& x, const std::string& kernel, const std::string& bias);
  TfjsValue pool(const TfjsValue& x, Window window, bool same, bool maximum);
  TfjsValue global_mean(const TfjsValue& x);
  // "linear", "relu", "relu6"; throws Error{kInput} for others.
  TfjsValue activation(const TfjsValue& x, const std::string& name);
  // Applies pending padding.
  TfjsValue settled(const TfjsValue& x);

  // A one-dimensional weight of `length` values.
  std::string vector(const std::string& name, std::int64_t length);
  // Shape of a weight that must have this many axes.
  const std::vector<std::int64_t>& shape(const std::string& name, std::size_t axes);
  // Ends the graph: `features` as rows, and `logits` when it is not null.
  void finish(const TfjsValue& features, const TfjsValue* logits);

  ConvNetBuilder& layers() { return layers_; }
  OnnxModel& model() { return layers_.model(); }
  const TensorFile& weights() const { return weights_; }
  void mark_used(const std::string& name) { used_.insert(name); }
  const std::set<std::string>& used() const { return used_; }

 private:
  TfjsValue as_rows(const TfjsValue& x);

  ConvNetBuilder layers_;
  const TensorFile& weights_;
  std::set<std::string> used_;
};

struct TfjsGraph {
  std::string name;
  int image_size = 0;
};

// Each adds the whole network to the builder's model. image_size 0: the model's own, or 224.
TfjsGraph build_tfjs_layers(const nlohmann::json& topology, TfjsBuilder& builder, int image_size);
TfjsGraph build_tfjs_graph(const nlohmann::json& topology, TfjsBuilder& builder, int image_size);

}  // namespace annulus
