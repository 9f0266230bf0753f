// Writes a vision transformer as an ONNX graph.
#pragma once

#include <string>
#include <vector>

#include "annulus/vision/architecture.h"
#include "annulus/vision/encoder_tensors.h"
#include "annulus/vision/onnx_model.h"
#include "annulus/vision/position_table.h"

namespace annulus {

// Adds the network from "pixel_values" (batch x 3 x image x image) to "features" (batch x width): the class token after
// the last norm. Layer scale and register tokens are used when the checkpoint has them; a position table of another
// size is resized. What the checkpoint lacks becomes problems of `tensors`; what was decided is added to `notes`.
void build_vit(const Architecture& architecture, PositionResize resize, EncoderTensors& tensors, OnnxModel& model,
               std::vector<std::string>& notes);

}  // namespace annulus
