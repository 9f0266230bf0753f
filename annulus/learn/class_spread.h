// The directions in which rows of a class usually differ from their mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"

namespace annulus {

inline constexpr std::size_t kSpreadAxes = 16;  // at most: more were not better, and so many are one narrow product
inline constexpr std::size_t kSpreadRows = 256;

// The directions of the largest variances within classes, at most kSpreadAxes, of conditioned rows of length 1; none
// where no class has two rows. One of variance v has the squared length v / (v + w), with w the mean variance of all
// directions. So |u|^2 - |axes u|^2 is the squared length of u under the covariance within classes, shrunk half-way to
// a sphere and in units of that, but for the directions left out. Rows numbered in `left_out`, in ascending order, are
// not looked at. At most kSpreadRows rows are, evenly spaced among those of classes with two or more; costs a product
// of these with themselves and the eigenvectors of that.
Matrix<float> class_spread_axes(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, int threads,
                                std::span<const std::size_t> left_out = {});

// How far a row lies along each axis; zeros beyond the last.
using AxisNumbers = std::array<float, kSpreadAxes>;
AxisNumbers along_axes(ConstMatrixView<float> axes, std::span<const float> row);

}  // namespace annulus
