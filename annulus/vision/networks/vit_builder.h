// Writes a vision transformer as an ONNX graph.
#pragma once

#include <string>
#include <vector>

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/networks/position_table.h"
#include "annulus/vision/networks/vit_layout.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

// Adds the network from "pixel_values" (batch x 3 x image x image) to "features" (batch x dimension). The class token
// (of SigLIP the pooled vector) and the mean of the patch tokens are taken after the last norm; where the network has a
// projection, it applies to each. Layer scale and register tokens are used if the checkpoint has them; a position table
// of another size is resized. Missing tensors become problems of `tensors`; decisions are added to `notes`.
void build_vit(const Architecture& architecture, const VitLayout& layout, PositionResize resize, TokenFeature feature,
               EncoderTensors& tensors, OnnxModel& model, std::vector<std::string>& notes);

}  // namespace annulus
