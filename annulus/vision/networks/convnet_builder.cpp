// Emits convolutional layers and computes the sizes of their outputs.
#include "annulus/vision/networks/convnet_builder.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

std::int64_t output_length(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                           std::int64_t dilation) {
  const std::int64_t room = size + padding - ((kernel - 1) * dilation + 1);
  return room < 0 ? 0 : room / stride + 1;
}

std::pair<std::int64_t, std::int64_t> same_sides(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                                                 std::int64_t dilation) {
  const std::int64_t outputs = (size + stride - 1) / stride;
  const std::int64_t total = std::max<std::int64_t>(0, (outputs - 1) * stride + (kernel - 1) * dilation + 1 - size);
  return {total / 2, total - total / 2};
}

}  // namespace

Padding same_padding(const FeatureMap& x, const Window& window) {
  const auto rows = same_sides(x.height, window.kernel.height, window.stride.height, window.dilation.height);
  const auto columns = same_sides(x.width, window.kernel.width, window.stride.width, window.dilation.width);
  return {rows.first, columns.first, rows.second, columns.second};
}

FeatureMap ConvNetBuilder::windowed(const char* operator_name, const FeatureMap& x, std::vector<std::string> inputs,
                                    std::int64_t channels, const Window& window) {
  const Padding& pad = window.padding;
  FeatureMap out{
      "", channels,
      output_length(x.height, window.kernel.height, window.stride.height, pad.top + pad.bottom, window.dilation.height),
      output_length(x.width, window.kernel.width, window.stride.width, pad.left + pad.right, window.dilation.width)};
  if (out.height <= 0 || out.width <= 0) {
    fail(ErrorKind::kInput, "a window of {}x{} does not fit into a feature map of {}x{}: the image is too small",
         window.kernel.height, window.kernel.width, x.height, x.width);
  }
  using Numbers = std::vector<std::int64_t>;
  std::vector<OnnxAttribute> attributes = {
      {"kernel_shape", Numbers{window.kernel.height, window.kernel.width}},
      {"strides", Numbers{window.stride.height, window.stride.width}},
      {"pads", Numbers{pad.top, pad.left, pad.bottom, pad.right}},
  };
  if (std::string_view(operator_name) == "Conv") {
    attributes.push_back({"dilations", Numbers{window.dilation.height, window.dilation.width}});
    attributes.push_back({"group", window.groups});
  }
  out.name = model_.node(operator_name, inputs, attributes);
  return out;
}

FeatureMap ConvNetBuilder::convolution(const FeatureMap& x, const std::string& kernel, const std::string& bias,
                                       std::int64_t channels, const Window& window) {
  std::vector<std::string> inputs = {x.name, kernel};
  if (!bias.empty()) inputs.push_back(bias);
  return windowed("Conv", x, std::move(inputs), channels, window);
}

FeatureMap ConvNetBuilder::batch_norm(const FeatureMap& x, const std::string& scale, const std::string& shift,
                                      const std::string& mean, const std::string& variance, float epsilon) {
  FeatureMap out = x;
  out.name = model_.node("BatchNormalization", {x.name, scale, shift, mean, variance}, {{"epsilon", epsilon}});
  return out;
}

FeatureMap ConvNetBuilder::maximum_pool(const FeatureMap& x, const Window& window) {
  return windowed("MaxPool", x, {x.name}, x.channels, window);
}

FeatureMap ConvNetBuilder::average_pool(const FeatureMap& x, const Window& window) {
  return windowed("AveragePool", x, {x.name}, x.channels, window);
}

FeatureMap ConvNetBuilder::pad_with_zeros(const FeatureMap& x, const Padding& padding) {
  const std::string sides = model_.integers("pad_sides_" + std::to_string(constants_++),
                                            {0, 0, padding.top, padding.left, 0, 0, padding.bottom, padding.right});
  return {model_.node("Pad", {x.name, sides}), x.channels, x.height + padding.top + padding.bottom,
          x.width + padding.left + padding.right};
}

FeatureMap ConvNetBuilder::relu(const FeatureMap& x) {
  FeatureMap out = x;
  out.name = model_.node("Relu", {x.name});
  return out;
}

FeatureMap ConvNetBuilder::relu6(const FeatureMap& x) {
  if (!has_relu6_limits_) {
    model_.floats("relu6_low", {}, {0.0F});
    model_.floats("relu6_high", {}, {6.0F});
    has_relu6_limits_ = true;
  }
  FeatureMap out = x;
  out.name = model_.node("Clip", {x.name, "relu6_low", "relu6_high"});
  return out;
}

FeatureMap ConvNetBuilder::leaky_relu(const FeatureMap& x, float slope) {
  FeatureMap out = x;
  out.name = model_.node("LeakyRelu", {x.name}, {{"alpha", slope}});
  return out;
}

FeatureMap ConvNetBuilder::add(const FeatureMap& a, const FeatureMap& b) {
  if (a.channels != b.channels || a.height != b.height || a.width != b.width) {
    fail(ErrorKind::kInput, "feature maps of {}x{}x{} and {}x{}x{} cannot be added", a.channels, a.height, a.width,
         b.channels, b.height, b.width);
  }
  FeatureMap out = a;
  out.name = model_.node("Add", {a.name, b.name});
  return out;
}

std::string ConvNetBuilder::global_mean(const FeatureMap& x, const std::string& name) {
  const std::string pooled = model_.node("GlobalAveragePool", {x.name});
  return model_.node("Flatten", {pooled}, {{"axis", std::int64_t{1}}}, name);
}

}  // namespace annulus
