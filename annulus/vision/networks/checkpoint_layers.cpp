// Names tensors as PyTorch's modules do.
#include "annulus/vision/networks/checkpoint_layers.h"

#include <fmt/format.h>

namespace annulus {
namespace {

constexpr float kBatchNormEpsilon = 1e-5F;

Window same_window(std::int64_t kernel, std::int64_t stride, std::int64_t groups) {
  const std::int64_t pad = kernel / 2;
  return {{kernel, kernel}, {stride, stride}, {pad, pad, pad, pad}, {1, 1}, groups};
}

}  // namespace

FeatureMap CheckpointLayers::input(int image_size) {
  layers_.model().input("pixel_values", {-1, 3, image_size, image_size});
  return {"pixel_values", 3, image_size, image_size};
}

void CheckpointLayers::output(const FeatureMap& x) {
  layers_.global_mean(x, "features");
  layers_.model().output("features", {-1, x.channels});
}

FeatureMap CheckpointLayers::convolution(const FeatureMap& x, const std::string& name, std::int64_t channels,
                                         std::int64_t kernel, std::int64_t stride) {
  return layers_.convolution(x, weight(name + ".weight", {channels, x.channels, kernel, kernel}), "", channels,
                             same_window(kernel, stride, 1));
}

FeatureMap CheckpointLayers::depthwise(const FeatureMap& x, const std::string& name, std::int64_t kernel,
                                       std::int64_t stride) {
  return layers_.convolution(x, weight(name + ".weight", {x.channels, 1, kernel, kernel}), "", x.channels,
                             same_window(kernel, stride, x.channels));
}

FeatureMap CheckpointLayers::norm(const FeatureMap& x, const std::string& name) {
  const OnnxModel::Shape shape = {x.channels};
  return layers_.batch_norm(x, weight(name + ".weight", shape), weight(name + ".bias", shape),
                            weight(name + ".running_mean", shape), weight(name + ".running_var", shape),
                            kBatchNormEpsilon);
}

FeatureMap CheckpointLayers::normed(const FeatureMap& x, const std::string& stem, int number, std::int64_t channels,
                                    std::int64_t kernel, std::int64_t stride) {
  return norm(convolution(x, fmt::format("{}conv{}", stem, number), channels, kernel, stride),
              fmt::format("{}bn{}", stem, number));
}

FeatureMap CheckpointLayers::shortcut(const FeatureMap& x, const std::string& stem, std::int64_t channels,
                                      std::int64_t stride) {
  return norm(convolution(x, stem + "downsample.0", channels, 1, stride), stem + "downsample.1");
}

FeatureMap CheckpointLayers::average(const FeatureMap& x, std::int64_t side) {
  return layers_.average_pool(x, {{side, side}, {side, side}, {}, {1, 1}, 1});
}

std::string CheckpointLayers::weight(const std::string& name, const OnnxModel::Shape& shape) {
  return layers_.model().weight(name, shape, tensors_.need(name, shape));
}

}  // namespace annulus
