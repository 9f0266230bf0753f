// Batch norms and added constants become part of the convolution before them.
#pragma once

#include "annulus/vision/onnx/onnx_network.h"

namespace annulus {

// Changes no result by more than rounding. What does not fit (a convolution whose output is used elsewhere, weights
// that are no constants of the file) stays as it is.
void fold_constants(OnnxNetwork& network);

}  // namespace annulus
