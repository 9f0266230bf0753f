// Residual networks, block by block, under the tensor names of their PyTorch programs.
#include "annulus/vision/resnet_builder.h"

#include <fmt/format.h>

#include "annulus/vision/convnet_builder.h"

namespace annulus {
namespace {

constexpr float kNormEpsilon = 1e-5F;

// Convolutions and norms whose weights come from a checkpoint.
class ResidualBuilder {
 public:
  ResidualBuilder(EncoderTensors& tensors, OnnxModel& model) : layers_(model), tensors_(tensors) {}

  FeatureMap input(int image_size) {
    layers_.model().input("pixel_values", {-1, 3, image_size, image_size});
    return {"pixel_values", 3, image_size, image_size};
  }
  void output(const FeatureMap& x) {
    layers_.global_mean(x, "features");
    layers_.model().output("features", {-1, x.channels});
  }

  // Without bias; padded by half the kernel.
  FeatureMap convolution(const FeatureMap& x, const std::string& name, std::int64_t channels, std::int64_t kernel,
                         std::int64_t stride) {
    const std::int64_t pad = kernel / 2;
    const Window window{{kernel, kernel}, {stride, stride}, {pad, pad, pad, pad}, {1, 1}, 1};
    return layers_.convolution(x, weight(name + ".weight", {channels, x.channels, kernel, kernel}), "", channels,
                               window);
  }
  FeatureMap norm(const FeatureMap& x, const std::string& name) {
    const OnnxModel::Shape shape = {x.channels};
    return layers_.batch_norm(x, weight(name + ".weight", shape), weight(name + ".bias", shape),
                              weight(name + ".running_mean", shape), weight(name + ".running_var", shape),
                              kNormEpsilon);
  }
  // A convolution and the norm after it.
  FeatureMap normed(const FeatureMap& x, const std::string& stem, int number, std::int64_t channels,
                    std::int64_t kernel, std::int64_t stride) {
    return norm(convolution(x, fmt::format("{}conv{}", stem, number), channels, kernel, stride),
                fmt::format("{}bn{}", stem, number));
  }
  FeatureMap shortcut(const FeatureMap& x, const std::string& stem, std::int64_t channels, std::int64_t stride) {
    return norm(convolution(x, stem + "downsample.0", channels, 1, stride), stem + "downsample.1");
  }

  ConvNetBuilder& layers() { return layers_; }

 private:
  std::string weight(const std::string& name, const OnnxModel::Shape& shape) {
    return layers_.model().weight(name, shape, tensors_.need(name, shape));
  }

  ConvNetBuilder layers_;
  EncoderTensors& tensors_;
};

FeatureMap residual_block(ResidualBuilder& net, const FeatureMap& x, const std::string& stem, std::int64_t channels,
                          bool bottleneck, std::int64_t stride) {
  ConvNetBuilder& layers = net.layers();
  const std::int64_t outputs = bottleneck ? 4 * channels : channels;
  FeatureMap y;
  if (bottleneck) {
    y = layers.relu(net.normed(x, stem, 1, channels, 1, 1));
    y = layers.relu(net.normed(y, stem, 2, channels, 3, stride));
    y = net.normed(y, stem, 3, outputs, 1, 1);
  } else {
    y = layers.relu(net.normed(x, stem, 1, channels, 3, stride));
    y = net.normed(y, stem, 2, channels, 3, 1);
  }
  const bool same_shape = stride == 1 && x.channels == outputs;
  return layers.relu(layers.add(y, same_shape ? x : net.shortcut(x, stem, outputs, stride)));
}

// Norm and ReLU come before the convolutions; where the shape changes, the shortcut starts after them.
FeatureMap pre_activation_block(ResidualBuilder& net, const FeatureMap& x, const std::string& stem,
                                std::int64_t channels, std::int64_t stride) {
  ConvNetBuilder& layers = net.layers();
  const FeatureMap active = layers.relu(net.norm(x, stem + "bn1"));
  FeatureMap y = net.convolution(active, stem + "conv1", channels, 3, stride);
  y = net.convolution(layers.relu(net.norm(y, stem + "bn2")), stem + "conv2", channels, 3, 1);
  return layers.add(x.channels == channels ? x : net.convolution(active, stem + "convShortcut", channels, 1, stride),
                    y);
}

}  // namespace

void build_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model) {
  ResidualBuilder net(tensors, model);
  FeatureMap x = net.input(architecture.image_size);
  x = net.layers().relu(net.normed(x, "", 1, architecture.channels[0], 7, 2));
  x = net.layers().maximum_pool(x, {{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 1});
  for (std::size_t stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < architecture.blocks[stage]; ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      x = residual_block(net, x, fmt::format("layer{}.{}.", stage + 1, block), architecture.channels[stage],
                         architecture.bottleneck, stride);
    }
  }
  net.output(x);
  tensors.refuse_unused("layer", architecture.name);
}

void build_wide_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model) {
  ResidualBuilder net(tensors, model);
  FeatureMap x = net.convolution(net.input(architecture.image_size), "conv1", architecture.channels[0], 3, 1);
  const int blocks = (architecture.depth - 4) / 6;
  for (std::size_t stage = 1; stage <= 3; ++stage) {
    for (int block = 0; block < blocks; ++block) {
      x = pre_activation_block(net, x, fmt::format("block{}.layer.{}.", stage, block), architecture.channels[stage],
                               stage > 1 && block == 0 ? 2 : 1);
    }
  }
  net.output(net.layers().relu(net.norm(x, "bn1")));
  tensors.refuse_unused("block", architecture.name);
}

void build_resnet12(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model) {
  constexpr float kSlope = 0.1F;
  ResidualBuilder net(tensors, model);
  ConvNetBuilder& layers = net.layers();
  FeatureMap x = net.input(architecture.image_size);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    // Some programs hold the one block of a stage in a list.
    std::string stem = fmt::format("layer{}.", stage + 1);
    if (tensors.find(stem + "0.conv1.weight") != nullptr) stem += "0.";
    const std::int64_t channels = architecture.channels[stage];
    FeatureMap y = layers.leaky_relu(net.normed(x, stem, 1, channels, 3, 1), kSlope);
    y = layers.leaky_relu(net.normed(y, stem, 2, channels, 3, 1), kSlope);
    y = layers.add(net.normed(y, stem, 3, channels, 3, 1), net.shortcut(x, stem, channels, 1));
    x = layers.maximum_pool(layers.leaky_relu(y, kSlope), {{2, 2}, {2, 2}, {}, {1, 1}, 1});
  }
  net.output(x);
  tensors.refuse_unused("layer", architecture.name);
}

}  // namespace annulus
