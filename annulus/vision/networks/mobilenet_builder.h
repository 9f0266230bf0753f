// Writes a convolutional MobileNetV4 as an ONNX graph.
#pragma once

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

// From "pixel_values" (batch x 3 x image x image) to "features": what timm gives its classifier. Stages, blocks,
// kernels and channels are those of the checkpoint (timm's names); the first block of a stage halves the map if it has
// a kernel larger than one pixel. Missing tensors become problems of `tensors`.
void build_mobilenet_v4(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);

}  // namespace annulus
