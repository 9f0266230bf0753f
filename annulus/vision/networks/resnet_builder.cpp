// Residual networks, block by block, with the tensor names of their PyTorch code.
#include "annulus/vision/networks/resnet_builder.h"

#include <fmt/format.h>

#include "annulus/vision/networks/checkpoint_layers.h"

namespace annulus {
namespace {

FeatureMap residual_block(CheckpointLayers& net, const FeatureMap& x, const std::string& stem, std::int64_t channels,
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
FeatureMap pre_activation_block(CheckpointLayers& net, const FeatureMap& x, const std::string& stem,
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
  CheckpointLayers net(tensors, model);
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
  tensors.reject_unused("layer", architecture.name);
}

void build_wide_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model) {
  CheckpointLayers net(tensors, model);
  FeatureMap x = net.convolution(net.input(architecture.image_size), "conv1", architecture.channels[0], 3, 1);
  const int blocks = (architecture.depth - 4) / 6;
  for (std::size_t stage = 1; stage <= 3; ++stage) {
    for (int block = 0; block < blocks; ++block) {
      x = pre_activation_block(net, x, fmt::format("block{}.layer.{}.", stage, block), architecture.channels[stage],
                               stage > 1 && block == 0 ? 2 : 1);
    }
  }
  net.output(net.layers().relu(net.norm(x, "bn1")));
  tensors.reject_unused("block", architecture.name);
}

void build_resnet12(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model) {
  constexpr float kSlope = 0.1F;
  CheckpointLayers net(tensors, model);
  ConvNetBuilder& layers = net.layers();
  FeatureMap x = net.input(architecture.image_size);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    // Some implementations hold the one block of a stage in a list.
    std::string stem = fmt::format("layer{}.", stage + 1);
    if (tensors.find(stem + "0.conv1.weight") != nullptr) stem += "0.";
    const std::int64_t channels = architecture.channels[stage];
    FeatureMap y = layers.leaky_relu(net.normed(x, stem, 1, channels, 3, 1), kSlope);
    y = layers.leaky_relu(net.normed(y, stem, 2, channels, 3, 1), kSlope);
    y = layers.add(net.normed(y, stem, 3, channels, 3, 1), net.shortcut(x, stem, channels, 1));
    x = layers.maximum_pool(layers.leaky_relu(y, kSlope), {{2, 2}, {2, 2}, {}, {1, 1}, 1});
  }
  net.output(x);
  tensors.reject_unused("layer", architecture.name);
}

}  // namespace annulus
