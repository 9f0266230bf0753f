// The nearest-prototype classifier.
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/learn/method/head.h"

namespace annulus {

// |z - m|^2 is smallest where z . m - |m|^2 / 2 is largest, so the prototypes m make a linear head. Rows are used as
// given; every class in [0, classes) has at least one.
Head<float> nearest_mean_head(ConstMatrixView<double> rows, std::span<const std::int32_t> labels, std::size_t classes);

}  // namespace annulus
