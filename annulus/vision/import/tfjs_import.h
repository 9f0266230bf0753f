// TensorFlow.js models (layers-model and graph-model) as ONNX models that take channels-first images.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/vision/import/tensor_file.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

struct TfjsImport {
  OnnxModel model;  // "pixel_values" to "features", and to "logits" when the model ends in a classifier
  std::shared_ptr<const TensorFile> weights;  // the source of the weights when the model is written
  std::string layout;                         // "TensorFlow.js layers-model resnet50"
  std::string preprocessing;                  // how the model's images are prepared: "keras-caffe" or "unit"
  int image_size = 0;
  std::size_t used = 0;  // weights that the network uses
  std::vector<std::string> dropped;
  std::vector<std::string> notes;
};

// The shard files that model.json lists, in order.
std::vector<std::string> tfjs_shards(std::string_view model_json, const std::string& source);

// Converts a model of convolutions, norms and pooling up to its pooled feature. image_size 0 takes the model's own, or
// 224 when it leaves that free. The shards' bytes are kept alive by `owner`. Throws Error{kFormat} for what is broken
// and Error{kInput} for a layer or operator that is not supported, by name.
TfjsImport import_tfjs_model(std::string_view model_json, std::span<const std::span<const std::byte>> shards,
                             std::shared_ptr<const void> owner, const std::string& source, int image_size);

}  // namespace annulus
