// Convolutions and batch norms whose weights come from a checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "annulus/vision/networks/convnet_builder.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

class CheckpointLayers {
 public:
  CheckpointLayers(EncoderTensors& tensors, OnnxModel& model) : layers_(model), tensors_(tensors) {}

  // "pixel_values"
  FeatureMap input(int image_size);
  // "features": the mean over positions.
  void output(const FeatureMap& x);

  // NAME.weight without bias, padded by half the kernel; with groups, as many as x has channels.
  FeatureMap convolution(const FeatureMap& x, const std::string& name, std::int64_t channels, std::int64_t kernel,
                         std::int64_t stride);
  FeatureMap depthwise(const FeatureMap& x, const std::string& name, std::int64_t kernel, std::int64_t stride);
  FeatureMap norm(const FeatureMap& x, const std::string& name);
  // A convolution and the norm after it: STEMconvN and STEMbnN.
  FeatureMap normed(const FeatureMap& x, const std::string& stem, int number, std::int64_t channels,
                    std::int64_t kernel, std::int64_t stride);
  FeatureMap shortcut(const FeatureMap& x, const std::string& stem, std::int64_t channels, std::int64_t stride);
  // Mean over squares of `side` pixels that do not overlap.
  FeatureMap average(const FeatureMap& x, std::int64_t side);

  // A weight of the model that is a tensor of the checkpoint.
  std::string weight(const std::string& name, const OnnxModel::Shape& shape);

  ConvNetBuilder& layers() { return layers_; }
  EncoderTensors& tensors() { return tensors_; }

 private:
  ConvNetBuilder layers_;
  EncoderTensors& tensors_;
};

}  // namespace annulus
