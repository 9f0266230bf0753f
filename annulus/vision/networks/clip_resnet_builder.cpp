// A stem of three convolutions, averages instead of strides, and attention from the mean over all positions.
#include "annulus/vision/networks/clip_resnet_builder.h"

#include <fmt/format.h>

#include "annulus/vision/networks/checkpoint_layers.h"
#include "annulus/vision/networks/token_positions.h"
#include "annulus/vision/networks/transformer_layers.h"

namespace annulus {
namespace {

FeatureMap clip_bottleneck(CheckpointLayers& net, const FeatureMap& x, const std::string& stem, std::int64_t channels,
                           std::int64_t stride) {
  ConvNetBuilder& layers = net.layers();
  FeatureMap y = layers.relu(net.normed(x, stem, 1, channels, 1, 1));
  y = layers.relu(net.normed(y, stem, 2, channels, 3, 1));
  if (stride > 1) y = net.average(y, stride);
  y = net.normed(y, stem, 3, 4 * channels, 1, 1);
  if (stride == 1 && x.channels == 4 * channels) return layers.relu(layers.add(y, x));
  const FeatureMap smaller = stride > 1 ? net.average(x, stride) : x;
  return layers.relu(layers.add(y, net.shortcut(smaller, stem, 4 * channels, 1)));
}

void pool_map(EncoderTensors& tensors, OnnxModel& model, const FeatureMap& x, int heads,
              std::vector<std::string>& notes) {
  TransformerLayers layers(tensors, model);
  const std::int64_t width = x.channels;
  const std::int64_t places = x.height * x.width;
  const std::string patches = layers.transpose(layers.reshape(x.name, {-1, width, places}), {0, 2, 1});
  const std::string mean = model.reduce("ReduceMean", patches, {1}, true);
  const std::string all = model.node("Concat", {mean, patches}, {{"axis", std::int64_t{1}}});
  const std::string positions = model.weight("attnpool.positions", {1, 1 + places, width},
                                             stored_positions(tensors, "attnpool.positional_embedding", 1, x.height,
                                                              width, PositionResize::kAntialias, notes));
  const std::string tokens = model.node("Add", {all, positions});
  const std::string first = model.node("Gather", {tokens, layers.integers("zero", {0})}, {{"axis", std::int64_t{1}}});
  const auto projected = [&](const std::string& rows, const char* name, std::int64_t count) {
    const std::string flat = layers.reshape(rows, {-1, width});
    return layers.reshape(layers.linear(flat, fmt::format("attnpool.{}", name), width, width), {-1, count, width});
  };
  const std::string mixed = layers.attention(projected(first, "q_proj", 1), projected(tokens, "k_proj", 1 + places),
                                             projected(tokens, "v_proj", 1 + places), heads);
  const std::int64_t outputs = tensors.length("attnpool.c_proj.weight", 0);
  const std::string out = layers.linear(layers.reshape(mixed, {-1, width}), "attnpool.c_proj", outputs, width);
  model.node("Identity", {out}, {}, "features");
  model.output("features", {-1, outputs});
}

}  // namespace

void build_clip_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model,
                       std::vector<std::string>& notes) {
  CheckpointLayers net(tensors, model);
  ConvNetBuilder& layers = net.layers();
  const std::int64_t width = architecture.channels[0];
  FeatureMap x = net.input(architecture.image_size);
  x = layers.relu(net.normed(x, "", 1, width / 2, 3, 2));
  x = layers.relu(net.normed(x, "", 2, width / 2, 3, 1));
  x = layers.relu(net.normed(x, "", 3, width, 3, 1));
  x = net.average(x, 2);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < architecture.blocks[stage]; ++block) {
      x = clip_bottleneck(net, x, fmt::format("layer{}.{}.", stage + 1, block), architecture.channels[stage],
                          stage > 0 && block == 0 ? 2 : 1);
    }
  }
  pool_map(tensors, model, x, architecture.heads, notes);
  tensors.reject_unused("layer", architecture.name);
}

}  // namespace annulus
