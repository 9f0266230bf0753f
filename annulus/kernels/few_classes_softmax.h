// The streaming softmax gradient for few classes: lanes hold noise rows, because classes would not fill them.
#pragma once

#include <cstddef>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/kernels/virtual_softmax.h"

namespace annulus {

inline constexpr std::size_t kFewClasses = 32;  // up to here this form is the faster one

// As virtual_softmax_gradient (hits are always counted), for at most kFewClasses classes; `scratch` needs
// few_classes_scratch(...) numbers.
LossSums few_classes_gradient(const VirtualLogits<float>& logits, float smoothing, float gradient_scale,
                              MatrixView<float> original_gradient, MatrixView<float> noise_gradient,
                              std::span<float> scratch);

std::size_t few_classes_scratch(std::size_t classes, std::size_t noise_rows);

}  // namespace annulus
