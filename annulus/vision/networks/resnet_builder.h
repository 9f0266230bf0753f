// Writes residual networks as ONNX graphs: torchvision's, the wide pre-activation one, and ResNet-12.
#pragma once

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

// Each adds the network from "pixel_values" (batch x 3 x image x image) to "features": the mean over positions of the
// last feature map. Missing tensors become problems of `tensors`.
void build_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);
void build_wide_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);
void build_resnet12(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);

}  // namespace annulus
