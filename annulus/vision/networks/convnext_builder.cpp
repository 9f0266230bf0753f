// Depthwise convolutions on maps, everything else on rows of positions; layer scale is multiplied into the linear
// layers.
#include "annulus/vision/networks/convnext_builder.h"

#include <fmt/format.h>

#include "annulus/vision/networks/checkpoint_layers.h"
#include "annulus/vision/networks/transformer_layers.h"

namespace annulus {
namespace {

constexpr float kConvnextEpsilon = 1e-6F;
constexpr std::int64_t kConvnextKernel = 7;

// Names relative to the prefix; {} are the numbers of stage and block.
struct ConvnextNames {
  const char* program;
  const char* anchor;  // a tensor that only these names have
  const char* stem;    // convolution
  const char* stem_norm;
  const char* step_norm;  // between stages
  const char* step;
  const char* block;  // stem of a block's names
  const char* depthwise;
  const char* norm;
  const char* linear1;
  const char* linear2;
  const char* scale;
  const char* last_norm;
};

constexpr ConvnextNames kConvnextNames[] = {
    {"its authors", "downsample_layers.0.0.weight", "downsample_layers.0.0", "downsample_layers.0.1",
     "downsample_layers.{}.0", "downsample_layers.{}.1", "stages.{}.{}.", "dwconv", "norm", "pwconv1", "pwconv2",
     "gamma", "norm"},
    {"timm", "stem.0.weight", "stem.0", "stem.1", "stages.{}.downsample.0", "stages.{}.downsample.1",
     "stages.{}.blocks.{}.", "conv_dw", "norm", "mlp.fc1", "mlp.fc2", "gamma", "head.norm"},
    {"transformers", "embeddings.patch_embeddings.weight", "embeddings.patch_embeddings", "embeddings.layernorm",
     "encoder.stages.{}.downsampling_layer.0", "encoder.stages.{}.downsampling_layer.1", "encoder.stages.{}.layers.{}.",
     "dwconv", "layernorm", "pwconv1", "pwconv2", "layer_scale_parameter", "layernorm"},
    {"transformers (DINOv3)", "stages.0.downsample_layers.0.weight", "stages.0.downsample_layers.0",
     "stages.0.downsample_layers.1", "stages.{}.downsample_layers.0", "stages.{}.downsample_layers.1",
     "stages.{}.layers.{}.", "depthwise_conv", "layer_norm", "pointwise_conv1", "pointwise_conv2", "gamma",
     "layer_norm"},
};

const ConvnextNames& names_in(const EncoderTensors& tensors) {
  for (const ConvnextNames& names : kConvnextNames) {
    if (tensors.find(names.anchor) != nullptr) return names;
  }
  return kConvnextNames[0];
}

class ConvnextBuilder {
 public:
  ConvnextBuilder(EncoderTensors& tensors, OnnxModel& model)
      : names_(names_in(tensors)), maps_(tensors, model), rows_(tensors, model) {}

  void build(const Architecture& net) {
    FeatureMap x = maps_.input(net.image_size);
    x = norm(step(x, names_.stem, net.channels[0], 4), names_.stem_norm);
    for (std::size_t stage = 0; stage < 4; ++stage) {
      if (stage > 0) {
        x = step(norm(x, fmt::format(fmt::runtime(names_.step_norm), stage)),
                 fmt::format(fmt::runtime(names_.step), stage), net.channels[stage], 2);
      }
      for (int block = 0; block < net.blocks[stage]; ++block) {
        x = residual(x, fmt::format(fmt::runtime(names_.block), stage, block));
      }
    }
    rows_.norm(maps_.layers().global_mean(x), names_.last_norm, x.channels, kConvnextEpsilon, "features");
    maps_.layers().model().output("features", {-1, x.channels});
    for (const char* stem : {"stages.", "downsample_layers.", "encoder.stages."}) {
      rows_.tensors().reject_unused(stem, net.name);
    }
  }

 private:
  std::string vector(const std::string& name, std::int64_t length) { return maps_.weight(name, {length}); }

  // Channels last and back.
  std::string rows_of_map(const FeatureMap& x) {
    return rows_.reshape(rows_.transpose(x.name, {0, 2, 3, 1}), {-1, x.channels});
  }
  FeatureMap map_of_rows(const std::string& rows, FeatureMap like) {
    like.name = rows_.transpose(rows_.reshape(rows, {-1, like.height, like.width, like.channels}), {0, 3, 1, 2});
    return like;
  }

  FeatureMap norm(const FeatureMap& x, const std::string& name) {
    return map_of_rows(rows_.norm(rows_of_map(x), name, x.channels, kConvnextEpsilon), x);
  }

  // A convolution whose windows do not overlap.
  FeatureMap step(const FeatureMap& x, const std::string& name, std::int64_t channels, std::int64_t side) {
    const Window window{{side, side}, {side, side}, {}, {1, 1}, 1};
    return maps_.layers().convolution(x, maps_.weight(name + ".weight", {channels, x.channels, side, side}),
                                      vector(name + ".bias", channels), channels, window);
  }

  FeatureMap residual(const FeatureMap& x, const std::string& stem) {
    constexpr std::int64_t kPad = kConvnextKernel / 2;
    const Window window{{kConvnextKernel, kConvnextKernel}, {1, 1}, {kPad, kPad, kPad, kPad}, {1, 1}, x.channels};
    const std::string depthwise = stem + names_.depthwise;
    const FeatureMap mixed = maps_.layers().convolution(
        x, maps_.weight(depthwise + ".weight", {x.channels, 1, kConvnextKernel, kConvnextKernel}),
        vector(depthwise + ".bias", x.channels), x.channels, window);
    const std::string normed = rows_.norm(rows_of_map(mixed), stem + names_.norm, x.channels, kConvnextEpsilon);
    const std::string inner =
        rows_.activation(rows_.linear(normed, stem + names_.linear1, 4 * x.channels, x.channels), Activation::kErf);
    // Some variants were trained without layer scale.
    const bool scaled = rows_.tensors().find(stem + names_.scale) != nullptr;
    const std::string out =
        rows_.linear(inner, stem + names_.linear2, x.channels, 4 * x.channels, scaled ? stem + names_.scale : "");
    return maps_.layers().add(x, map_of_rows(out, x));
  }

  const ConvnextNames& names_;
  CheckpointLayers maps_;
  TransformerLayers rows_;
};

}  // namespace

void build_convnext(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model) {
  ConvnextBuilder(tensors, model).build(architecture);
}

std::string convnext_names(const EncoderTensors& tensors) { return names_in(tensors).program; }

}  // namespace annulus
