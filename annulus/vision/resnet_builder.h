// Writes residual networks as ONNX graphs: torchvision's, the wide pre-activation one, and ResNet-12.
#pragma once

#include "annulus/vision/architecture.h"
#include "annulus/vision/encoder_tensors.h"
#include "annulus/vision/onnx_model.h"

namespace annulus {

// Each adds the network from "pixel_values" (batch x 3 x image x image) to "features": the mean over positions of the
// last feature map. What the checkpoint lacks becomes problems of `tensors`.
void build_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);
void build_wide_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);
void build_resnet12(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);

}  // namespace annulus
