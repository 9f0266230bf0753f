// Filter weights in double, normalised to 1, then rounded to fixed point. The order of the operations on doubles is
// part of the result: the last bit of a weight decides the last bit of a pixel.
#include "annulus/vision/preprocess/resample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace annulus {
namespace {

double triangle(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

// Keys' cubic convolution with the parameter -1/2.
double cubic(double x) {
  constexpr double kSharpness = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kSharpness + 2.0) * x - (kSharpness + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * kSharpness;
  return 0.0;
}

std::int32_t to_fixed_point(double weight) {
  constexpr double kOne = 1 << kResampleBits;
  return static_cast<std::int32_t>(weight < 0.0 ? weight * kOne - 0.5 : weight * kOne + 0.5);
}

}  // namespace

ResampleAxis make_resample_axis(std::size_t in_size, std::size_t out_size, std::size_t first, std::size_t count,
                                Interpolation interpolation) {
  assert(in_size > 0 && first + count <= out_size);
  const bool bicubic = interpolation == Interpolation::kBicubic;
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  const double widening = std::max(scale, 1.0);
  const double reach = (bicubic ? 2.0 : 1.0) * widening;
  const double shrink = 1.0 / widening;

  ResampleAxis axis;
  axis.windows.reserve(count);
  std::vector<double> weights;
  for (std::size_t i = first; i < first + count; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    // Pillow truncates here, so rounding in any other way would move the window.
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const auto begin = static_cast<std::size_t>(std::max(centre - reach + 0.5, 0.0));
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const auto end = std::min(static_cast<std::size_t>(centre + reach + 0.5), in_size);
    weights.clear();
    double total = 0.0;
    for (std::size_t x = begin; x < end; ++x) {
      const double distance = (static_cast<double>(x) - centre + 0.5) * shrink;
      weights.push_back(bicubic ? cubic(distance) : triangle(distance));
      total += weights.back();
    }
    axis.windows.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin), axis.weights.size()});
    for (const double weight : weights) axis.weights.push_back(to_fixed_point(total != 0.0 ? weight / total : weight));
  }
  return axis;
}

}  // namespace annulus
