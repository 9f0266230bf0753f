// Writes the residual image tower of CLIP as an ONNX graph.
#pragma once

#include <string>
#include <vector>

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

// From "pixel_values" (batch x 3 x image x image) to "features": the output of the attention pooling. Its position
// table is resized to the map of another image size. Missing tensors become problems of `tensors`.
void build_clip_resnet(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model,
                       std::vector<std::string>& notes);

}  // namespace annulus
