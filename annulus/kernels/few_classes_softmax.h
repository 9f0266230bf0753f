// The streaming softmax gradient for few classes: lanes hold noise rows, because classes would not fill them.
#pragma once

#include <cstddef>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/kernels/virtual_softmax.h"

namespace annulus {

inline constexpr std::size_t kFewClasses = 32;  // up to here this variant is faster

// As virtual_softmax_gradient (always counting the correct pairs), for at most kFewClasses classes; `scratch` needs
// few_classes_scratch(...) values.
LossSums few_classes_gradient(const VirtualLogits<float>& logits, float smoothing, float gradient_scale,
                              MatrixView<float> example_gradient, MatrixView<float> noise_gradient,
                              std::span<float> scratch);

std::size_t few_classes_scratch(std::size_t classes, std::size_t noise_rows);

}  // namespace annulus
