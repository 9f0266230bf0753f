// The directions in which examples of a class vary around their mean (within-class covariance).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"

namespace annulus {

inline constexpr std::size_t kSpreadAxes = 16;  // at most: more were not better, and this many are one narrow product
inline constexpr std::size_t kSpreadRows = 256;

// The directions of the largest within-class variances, at most kSpreadAxes, of transformed rows of unit length; none
// if no class has two rows. A direction of variance v has the squared length v / (v + w), with w the mean variance of
// all directions. So |u|^2 - |axes u|^2 is the squared length of u under the within-class covariance, shrunk half-way
// to a sphere and in units of that, except for the directions left out. Rows in `left_out`, in ascending order, are
// ignored. At most kSpreadRows rows are used, evenly spaced among those of classes with two or more; costs a
// few products of these with the axes.
Matrix<float> class_spread_axes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, int threads,
                                std::span<const std::size_t> left_out = {});

// The coordinates of a row along each axis; zeros beyond the last.
using AxisNumbers = std::array<float, kSpreadAxes>;
AxisNumbers along_axes(ConstMatrixView<float> axes, std::span<const float> row);

}  // namespace annulus
