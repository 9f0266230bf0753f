// Layers of TensorFlow.js models, with channels-last weights transposed to channels-first.
#include "annulus/vision/import/tfjs_builder.h"

#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using Shape = std::vector<std::int64_t>;

// height x width x in x out becomes out x in x height x width.
std::vector<float> channels_first(const std::vector<float>& kernel, const Shape& shape) {
  const auto window = static_cast<std::size_t>(shape[0] * shape[1]);
  const auto inputs = static_cast<std::size_t>(shape[2]);
  const auto outputs = static_cast<std::size_t>(shape[3]);
  std::vector<float> turned(kernel.size());
  for (std::size_t at = 0; at < window; ++at) {
    for (std::size_t in = 0; in < inputs; ++in) {
      for (std::size_t out = 0; out < outputs; ++out) {
        turned[(out * inputs + in) * window + at] = kernel[(at * inputs + in) * outputs + out];
      }
    }
  }
  return turned;
}

// height x width x in x multiplier becomes (in * multiplier) x 1 x height x width.
std::vector<float> depthwise_channels_first(const std::vector<float>& kernel, const Shape& shape) {
  const auto window = static_cast<std::size_t>(shape[0] * shape[1]);
  const auto channels = static_cast<std::size_t>(shape[2] * shape[3]);
  std::vector<float> turned(kernel.size());
  for (std::size_t at = 0; at < window; ++at) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      turned[channel * window + at] = kernel[at * channels + channel];
    }
  }
  return turned;
}

}  // namespace

const Shape& TfjsBuilder::shape(const std::string& name, std::size_t axes) {
  const StoredTensor* tensor = weights_.find(name);
  if (tensor == nullptr) fail(ErrorKind::kFormat, "{}: expected a weight {}, found none", weights_.source(), name);
  if (tensor->shape.size() != axes || tensor->type != NumberType::kFloat32) {
    fail(ErrorKind::kFormat, "{}: expected weight {} to have {} axes of float32, found {} of {}", weights_.source(),
         name, axes, dimensions_text(tensor->shape), number_name(tensor->type));
  }
  used_.insert(name);
  return tensor->shape;
}

std::string TfjsBuilder::vector(const std::string& name, std::int64_t length) {
  const bool known = used_.contains(name);
  const Shape& found = shape(name, 1);
  if (found[0] != length) {
    fail(ErrorKind::kFormat, "{}: expected weight {} of shape [{}], found {}", weights_.source(), name, length,
         dimensions_text(found));
  }
  return known ? name : model().weight(name, found, [file = &weights_, name] { return file->read_floats(name); });
}

TfjsValue TfjsBuilder::convolution(const TfjsValue& x, const std::string& kernel, const std::string& bias,
                                   Window window, bool same, bool depthwise) {
  const bool known = used_.contains(kernel);
  const Shape& found = shape(kernel, 4);
  const std::int64_t inputs = x.map.channels;
  if (x.rows || found[2] != inputs || element_count(found, kernel) == 0) {
    fail(ErrorKind::kFormat, "{}: kernel {} of shape {} does not fit {} channels", weights_.source(), kernel,
         dimensions_text(found), inputs);
  }
  const std::int64_t outputs = depthwise ? inputs * found[3] : found[3];
  if (!known) {
    const Shape turned = {outputs, depthwise ? 1 : inputs, found[0], found[1]};
    model().weight(kernel, turned, [file = &weights_, kernel, found, depthwise] {
      const auto values = file->read_floats(kernel);
      return depthwise ? depthwise_channels_first(values, found) : channels_first(values, found);
    });
  }
  window.kernel = {found[0], found[1]};
  window.groups = depthwise ? inputs : 1;
  TfjsValue input = same ? settled(x) : x;
  window.padding = same ? same_padding(input.map, window) : input.pending;
  return {
      layers_.convolution(input.map, kernel, bias.empty() ? "" : vector(bias, outputs), outputs, window), false, {}};
}

TfjsValue TfjsBuilder::dense(const TfjsValue& x, const std::string& kernel, const std::string& bias) {
  const TfjsValue rows = as_rows(x);
  const bool known = used_.contains(kernel);
  const Shape& found = shape(kernel, 2);
  if (found[0] != rows.map.channels) {
    fail(ErrorKind::kFormat, "{}: kernel {} of shape {} does not fit {} channels", weights_.source(), kernel,
         dimensions_text(found), rows.map.channels);
  }
  if (!known) model().weight(kernel, found, [file = &weights_, kernel] { return file->read_floats(kernel); });
  std::vector<std::string> inputs = {rows.map.name, kernel};
  if (!bias.empty()) inputs.push_back(vector(bias, found[1]));
  return {{model().node("Gemm", inputs), found[1], 1, 1}, true, {}};
}

TfjsValue TfjsBuilder::pool(const TfjsValue& x, Window window, bool same, bool maximum) {
  const TfjsValue input = settled(x);
  if (same) window.padding = same_padding(input.map, window);
  return {maximum ? layers_.maximum_pool(input.map, window) : layers_.average_pool(input.map, window), false, {}};
}

TfjsValue TfjsBuilder::global_mean(const TfjsValue& x) {
  const TfjsValue input = settled(x);
  return {{layers_.global_mean(input.map), input.map.channels, 1, 1}, true, {}};
}

TfjsValue TfjsBuilder::activation(const TfjsValue& x, const std::string& name) {
  if (name == "linear") return x;
  TfjsValue out = settled(x);
  if (name == "relu") {
    out.map = layers_.relu(out.map);
  } else if (name == "relu6") {
    out.map = layers_.relu6(out.map);
  } else {
    fail(ErrorKind::kInput, "{}: the activation \"{}\" is not supported", weights_.source(), name);
  }
  return out;
}

TfjsValue TfjsBuilder::settled(const TfjsValue& x) {
  const Padding& pad = x.pending;
  if (pad.top == 0 && pad.left == 0 && pad.bottom == 0 && pad.right == 0) return x;
  return {layers_.pad_with_zeros(x.map, pad), x.rows, {}};
}

TfjsValue TfjsBuilder::as_rows(const TfjsValue& x) {
  if (x.rows) return x;
  const TfjsValue input = settled(x);
  if (input.map.height != 1 || input.map.width != 1) return global_mean(input);
  return {{model().node("Flatten", {input.map.name}, {{"axis", std::int64_t{1}}}), input.map.channels, 1, 1}, true, {}};
}

void TfjsBuilder::finish(const TfjsValue& features, const TfjsValue* logits) {
  const TfjsValue rows = as_rows(features);
  model().node("Identity", {rows.map.name}, {}, "features");
  model().output("features", {-1, rows.map.channels});
  if (logits == nullptr) return;
  const TfjsValue classes = as_rows(*logits);
  model().node("Identity", {classes.map.name}, {}, "logits");
  model().output("logits", {-1, classes.map.channels});
}

}  // namespace annulus
