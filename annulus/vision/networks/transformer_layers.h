// Layers of transformers as ONNX operators, with weights of a checkpoint; tokens are rows of a matrix.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/networks/tensor_fills.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

class TransformerLayers {
 public:
  TransformerLayers(EncoderTensors& tensors, OnnxModel& model) : tensors_(tensors), model_(model) {}

  // x W^T + b with W as PyTorch stores it (outputs x inputs); `name` is that of the weights in the model.
  std::string linear(const std::string& x, const std::string& name, std::int64_t outputs, std::int64_t inputs,
                     Fill weight, Fill bias);
  // The same with NAME.weight and NAME.bias of the checkpoint. Where `scale` names a tensor, it multiplies the outputs.
  std::string linear(const std::string& x, const std::string& name, std::int64_t outputs, std::int64_t inputs,
                     const std::string& scale = {});
  // Over the last axis, with NAME.weight and NAME.bias of the checkpoint.
  std::string norm(const std::string& x, const std::string& name, std::int64_t width, float epsilon,
                   const std::string& output = {});
  std::string activation(const std::string& x, Activation kind);
  // x sigmoid(x)
  std::string silu(const std::string& x);
  // A constant of integers; asking again for the same name gives the same constant.
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values);
  // x with another shape; -1 is the free axis.
  std::string reshape(const std::string& x, const std::vector<std::int64_t>& shape);
  std::string transpose(const std::string& x, const std::vector<std::int64_t>& order);
  // ONNX Runtime's own attention, which never makes the tokens x tokens matrix: with 3137 tokens it takes half the time
  // and a sixth of the memory of MatMul, Softmax, MatMul (docs/decisions/0031).
  std::string attention(const std::string& query, const std::string& key, const std::string& value, int heads);

  EncoderTensors& tensors() { return tensors_; }
  OnnxModel& model() { return model_; }

 private:
  std::string scalar(const std::string& name, float value);

  EncoderTensors& tensors_;
  OnnxModel& model_;
  std::set<std::string> constants_;
};

}  // namespace annulus
