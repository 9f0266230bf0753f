// Universal inverted bottlenecks, each with the depthwise convolutions that its tensors name.
#include "annulus/vision/networks/mobilenet_builder.h"

#include <fmt/format.h>

#include "annulus/vision/networks/checkpoint_layers.h"

namespace annulus {
namespace {

// A checkpoint has a handful of each.
constexpr int kMostStages = 16;
constexpr int kMostBlocks = 64;

class MobilenetBuilder {
 public:
  MobilenetBuilder(EncoderTensors& tensors, OnnxModel& model) : tensors_(tensors), net_(tensors, model) {}

  void build(const Architecture& architecture) {
    FeatureMap x = net_.input(architecture.image_size);
    x = normed(x, "conv_stem", "bn1", 2, true);
    for (int stage = 0; stage < kMostStages; ++stage) {
      for (int block = 0; block < kMostBlocks; ++block) {
        const std::string stem = fmt::format("blocks.{}.{}.", stage, block);
        const std::int64_t stride = block == 0 ? 2 : 1;
        if (tensors_.find(stem + "conv.weight") != nullptr) {
          x = normed(x, stem + "conv", stem + "bn1", kernel_of(stem + "conv") > 1 ? stride : 1, true);
        } else if (tensors_.find(stem + "pw_exp.conv.weight") != nullptr) {
          x = bottleneck(x, stem, stride);
        } else {
          break;
        }
      }
    }
    // After the mean, one pixel is left.
    FeatureMap mean{net_.layers().model().node("GlobalAveragePool", {x.name}), x.channels, 1, 1};
    x = normed(mean, "conv_head", "norm_head", 1, true);
    net_.output(x);
    tensors_.reject_unused("blocks.", architecture.name);
  }

 private:
  std::int64_t kernel_of(const std::string& name) const { return tensors_.length(name + ".weight", -1); }

  FeatureMap normed(const FeatureMap& x, const std::string& convolution, const std::string& norm, std::int64_t stride,
                    bool active) {
    const std::int64_t channels = tensors_.length(convolution + ".weight", 0);
    const FeatureMap y = net_.norm(net_.convolution(x, convolution, channels, kernel_of(convolution), stride), norm);
    return active ? net_.layers().relu(y) : y;
  }

  FeatureMap depthwise(const FeatureMap& x, const std::string& name, std::int64_t stride, bool active) {
    const FeatureMap y = net_.norm(net_.depthwise(x, name + ".conv", kernel_of(name + ".conv"), stride), name + ".bn");
    return active ? net_.layers().relu(y) : y;
  }

  // The stride is in the second depthwise convolution where there is one.
  FeatureMap bottleneck(const FeatureMap& x, const std::string& stem, std::int64_t stride) {
    const bool starts = tensors_.find(stem + "dw_start.conv.weight") != nullptr;
    const bool middles = tensors_.find(stem + "dw_mid.conv.weight") != nullptr;
    FeatureMap y = x;
    if (starts) y = depthwise(y, stem + "dw_start", middles ? 1 : stride, false);
    y = normed(y, stem + "pw_exp.conv", stem + "pw_exp.bn", 1, true);
    if (middles) y = depthwise(y, stem + "dw_mid", stride, true);
    y = normed(y, stem + "pw_proj.conv", stem + "pw_proj.bn", 1, false);
    const bool same_shape = y.channels == x.channels && y.height == x.height && y.width == x.width;
    return same_shape && (stride == 1 || !(starts || middles)) ? net_.layers().add(y, x) : y;
  }

  EncoderTensors& tensors_;
  CheckpointLayers net_;
};

}  // namespace

void build_mobilenet_v4(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model) {
  MobilenetBuilder(tensors, model).build(architecture);
}

}  // namespace annulus
