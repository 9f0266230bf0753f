// Layers of convolutional networks as ONNX operators, with the size of every feature map beside its name.
#pragma once

#include <cstdint>
#include <string>

#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

// batch x channels x height x width.
struct FeatureMap {
  std::string name;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct Extent {
  std::int64_t height = 1;
  std::int64_t width = 1;
};

// Rows and columns added at each side.
struct Padding {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t bottom = 0;
  std::int64_t right = 0;
};

struct Window {
  Extent kernel;
  Extent stride;
  Padding padding;
  Extent dilation;
  std::int64_t groups = 1;  // convolutions only
};

// The padding TensorFlow calls SAME: the output has ceil(size / stride) rows; the odd row goes to the bottom and right.
Padding same_padding(const FeatureMap& x, const Window& window);

class ConvNetBuilder {
 public:
  explicit ConvNetBuilder(OnnxModel& model) : model_(model) {}

  // Every layer throws Error{kInput} when its window is larger than the padded map. Weights are named constants of the
  // model: kernels channels_out x channels_in / groups x height x width; an empty bias means none.
  FeatureMap convolution(const FeatureMap& x, const std::string& kernel, const std::string& bias, std::int64_t channels,
                         const Window& window);
  FeatureMap batch_norm(const FeatureMap& x, const std::string& scale, const std::string& shift,
                        const std::string& mean, const std::string& variance, float epsilon);
  FeatureMap maximum_pool(const FeatureMap& x, const Window& window);
  // Padding does not count in the mean.
  FeatureMap average_pool(const FeatureMap& x, const Window& window);
  FeatureMap pad_with_zeros(const FeatureMap& x, const Padding& padding);
  FeatureMap relu(const FeatureMap& x);
  FeatureMap relu6(const FeatureMap& x);
  FeatureMap leaky_relu(const FeatureMap& x, float slope);
  FeatureMap add(const FeatureMap& a, const FeatureMap& b);
  // The mean of every channel as rows (batch x channels), under the given name or a fresh one.
  std::string global_mean(const FeatureMap& x, const std::string& name = {});

  OnnxModel& model() { return model_; }

 private:
  FeatureMap windowed(const char* operator_name, const FeatureMap& x, std::vector<std::string> inputs,
                      std::int64_t channels, const Window& window);

  OnnxModel& model_;
  std::size_t constants_ = 0;
  bool has_relu6_limits_ = false;
};

}  // namespace annulus
