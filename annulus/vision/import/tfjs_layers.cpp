// Keras layers of a TensorFlow.js layers-model.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/import/tfjs_builder.h"
#include "annulus/vision/import/tfjs_weights.h"

namespace annulus {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLargestImage = 4096;

Extent pair_of(const Json& pair) { return {whole_number(pair.at(0)), whole_number(pair.at(1))}; }

class LayersBuilder {
 public:
  LayersBuilder(const Json& topology, TfjsBuilder& builder, int image_size) : builder_(builder) {
    const Json& model = topology.contains("model_config") ? topology.at("model_config") : topology;
    const Json& config = model.at("config");
    layers_ = config.is_array() ? &config : &config.at("layers");
    sequential_ = model.at("class_name") == "Sequential";
    graph_.name = config.is_object() ? config.value("name", "") : "";
    graph_.image_size = image_size;
    if (!sequential_) output_ = config.at("output_layers").at(0).at(0).get<std::string>();
  }

  TfjsGraph build() {
    for (const Json& layer : *layers_) {
      const auto name = layer.contains("name") ? layer.at("name").get<std::string>()
                                               : layer.at("config").at("name").get<std::string>();
      const auto kind = layer.at("class_name").get<std::string>();
      if (kind == "InputLayer" || (sequential_ && values_.empty())) start(name, layer.at("config"));
      if (kind != "InputLayer") values_[name] = convert(kind, name, layer.at("config"), inputs_of(layer));
      last_ = name;
    }
    const std::string end = sequential_ ? last_ : output_;
    const auto found = values_.find(end);
    if (found == values_.end()) reject("its output layer \"{}\" is missing", end);
    if (classifier_input_) {
      builder_.finish(*classifier_input_, &*logits_);
    } else {
      builder_.finish(found->second, nullptr);
    }
    return graph_;
  }

 private:
  template <class... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::kInput, "{}: {}", builder_.weights().source(), fmt::format(format, std::forward<Args>(args)...));
  }

  void start(const std::string& name, const Json& config) {
    if (!graph_input_.empty()) reject("expected one input layer, found \"{}\" and \"{}\"", graph_input_, name);
    const Json& shape = config.at("batch_input_shape");
    if (shape.size() != 4 || shape.at(3) != 3) reject("expected images of 3 channels, channels last");
    if (graph_.image_size == 0) {
      const std::int64_t own = shape.at(1).is_null() ? 224 : whole_number(shape.at(1));
      if (own < 1 || own > kLargestImage) reject("an image of {} pixels a side makes no sense", own);
      graph_.image_size = static_cast<int>(own);
    }
    graph_input_ = name;
    const std::int64_t size = graph_.image_size;
    builder_.model().input("pixel_values", {-1, 3, size, size});
    values_[sequential_ ? "" : name] = {{"pixel_values", 3, size, size}, false, {}};
    last_ = sequential_ ? "" : name;
  }

  std::vector<TfjsValue> inputs_of(const Json& layer) const {
    std::vector<std::string> names;
    if (sequential_) {
      names.push_back(last_);
    } else {
      const Json& calls = layer.at("inbound_nodes");
      if (calls.size() != 1) reject("layer \"{}\" is used {} times", layer.at("name").get<std::string>(), calls.size());
      for (const Json& input : calls.at(0)) names.push_back(input.at(0).get<std::string>());
    }
    std::vector<TfjsValue> inputs;
    for (const std::string& name : names) {
      const auto found = values_.find(name);
      if (found == values_.end()) reject("layer \"{}\" is used before it is defined", name);
      inputs.push_back(found->second);
    }
    if (inputs.empty()) reject("a layer has no input");
    return inputs;
  }

  // Weights are named layer/part, sometimes with the model's name in front; empty when there is none.
  std::string weight(const std::string& layer, const char* part) const {
    const std::string name = layer + "/" + part;
    if (builder_.weights().find(name) != nullptr) return name;
    for (const auto& [known, tensor] : builder_.weights().tensors()) {
      if (known.ends_with("/" + name)) return known;
    }
    return "";
  }

  TfjsValue convert(const std::string& kind, const std::string& name, const Json& config,
                    const std::vector<TfjsValue>& inputs) {
    const TfjsValue& x = inputs.front();
    if (config.value("data_format", "channels_last") != "channels_last") reject("\"{}\" is not channels last", name);
    if (kind == "ZeroPadding2D") return zero_padding(x, config);
    if (kind == "Conv2D" || kind == "DepthwiseConv2D") return convolution(kind, name, config, x);
    if (kind == "BatchNormalization") return batch_norm(name, config, x);
    if (kind == "MaxPooling2D" || kind == "AveragePooling2D") return pool(kind, config, x);
    if (kind == "GlobalAveragePooling2D") return builder_.global_mean(x);
    if (kind == "Activation") return activation(x, config.at("activation").get<std::string>());
    if (kind == "ReLU") return relu(name, config, x);
    if (kind == "Dropout") return x;
    if (kind == "Dense") return dense(name, config, x);
    if (kind == "Add") {
      TfjsValue sum = builder_.settled(x);
      for (std::size_t i = 1; i < inputs.size(); ++i) {
        sum.map = builder_.layers().add(sum.map, builder_.settled(inputs[i]).map);
      }
      return sum;
    }
    reject("layer \"{}\" is of the unsupported kind {}", name, kind);
  }

  TfjsValue zero_padding(const TfjsValue& x, const Json& config) {
    TfjsValue padded = builder_.settled(x);
    const Extent rows = pair_of(config.at("padding").at(0));
    const Extent columns = pair_of(config.at("padding").at(1));
    padded.pending = {rows.height, columns.height, rows.width, columns.width};
    for (const std::int64_t side : {rows.height, rows.width, columns.height, columns.width}) {
      if (side < 0 || side > (1 << 16)) reject("a padding of {} makes no sense", side);
    }
    return padded;
  }

  static Window window_of(const Json& config, const char* kernel) {
    Window window;
    if (config.contains(kernel)) window.kernel = pair_of(config.at(kernel));
    if (!config.at("strides").is_null()) window.stride = pair_of(config.at("strides"));
    if (config.contains("dilation_rate")) window.dilation = pair_of(config.at("dilation_rate"));
    return window;
  }
  Window checked(const Window& window) const {
    for (const Extent& extent : {window.kernel, window.stride, window.dilation}) {
      if (std::min(extent.height, extent.width) < 1 || std::max(extent.height, extent.width) > (1 << 16)) {
        reject("a window of {}x{} makes no sense", extent.height, extent.width);
      }
    }
    return window;
  }
  static bool is_same(const Json& config) { return config.at("padding") == "same"; }

  TfjsValue convolution(const std::string& kind, const std::string& name, const Json& config, const TfjsValue& x) {
    const bool depthwise = kind == "DepthwiseConv2D";
    if (config.value("groups", Json(1)) != 1) reject("layer \"{}\" is a grouped convolution", name);
    const std::string bias = config.value("use_bias", true) ? weight(name, "bias") : "";
    const TfjsValue y = builder_.convolution(x, weight(name, depthwise ? "depthwise_kernel" : "kernel"), bias,
                                             checked(window_of(config, "kernel_size")), is_same(config), depthwise);
    return activation(y, config.value("activation", "linear"));
  }

  TfjsValue batch_norm(const std::string& name, const Json& config, const TfjsValue& x) {
    TfjsValue y = builder_.settled(x);
    const std::int64_t channels = y.map.channels;
    const auto part = [&](const char* which, bool present, float usual) {
      if (present) return builder_.vector(weight(name, which), channels);
      return builder_.model().floats(name + "/" + which, {channels},
                                     std::vector<float>(static_cast<std::size_t>(channels), usual));
    };
    const std::string scale = part("gamma", config.value("scale", true), 1.0F);
    const std::string shift = part("beta", config.value("center", true), 0.0F);
    y.map = builder_.layers().batch_norm(y.map, scale, shift, part("moving_mean", true, 0.0F),
                                         part("moving_variance", true, 1.0F), config.at("epsilon").get<float>());
    return y;
  }

  TfjsValue pool(const std::string& kind, const Json& config, const TfjsValue& x) {
    Window window = window_of(config, "pool_size");
    if (config.at("strides").is_null()) window.stride = window.kernel;
    return builder_.pool(x, checked(window), is_same(config), kind == "MaxPooling2D");
  }

  TfjsValue relu(const std::string& name, const Json& config, const TfjsValue& x) {
    const bool plain = config.value("negative_slope", 0.0) == 0.0 && config.value("threshold", 0.0) == 0.0;
    const bool limited = config.contains("max_value") && !config.at("max_value").is_null();
    if (!plain || (limited && config.at("max_value") != 6.0)) reject("layer \"{}\" is an unusual ReLU", name);
    return builder_.activation(x, limited ? "relu6" : "relu");
  }

  // The last dense layer is the classifier: what goes into it is the feature, what comes out before softmax the logits.
  TfjsValue dense(const std::string& name, const Json& config, const TfjsValue& x) {
    classifier_input_ = x;
    const TfjsValue y =
        builder_.dense(x, weight(name, "kernel"), config.value("use_bias", true) ? weight(name, "bias") : "");
    logits_ = y;
    return activation(y, config.value("activation", "linear"));
  }

  TfjsValue activation(const TfjsValue& x, const std::string& name) {
    if (name == "softmax" && x.rows) return x;
    return builder_.activation(x, name);
  }

  TfjsBuilder& builder_;
  const Json* layers_ = nullptr;
  bool sequential_ = false;
  std::string output_;
  std::string graph_input_;
  std::string last_;
  TfjsGraph graph_;
  std::map<std::string, TfjsValue> values_;
  std::optional<TfjsValue> classifier_input_;
  std::optional<TfjsValue> logits_;
};

}  // namespace

TfjsGraph build_tfjs_layers(const Json& topology, TfjsBuilder& builder, int image_size) {
  return LayersBuilder(topology, builder, image_size).build();
}

}  // namespace annulus
