// Writes a ConvNeXt as an ONNX graph.
#pragma once

#include <string>

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

// From "pixel_values" (batch x 3 x image x image) to "features": the norm of the mean over positions. Understands the
// names of its authors (also DINOv3's), of timm and of transformers. Missing tensors become problems of `tensors`.
void build_convnext(const Architecture& architecture, EncoderTensors& tensors, OnnxModel& model);

// Whose names the checkpoint has, for reports.
std::string convnext_names(const EncoderTensors& tensors);

}  // namespace annulus
