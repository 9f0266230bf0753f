// Boxes to pixels, and their copy.
#include "annulus/vision/image/crop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// The first pixel and the number of pixels along one side.
std::pair<std::size_t, std::size_t> extent(double first, double length, bool percent, double margin, std::size_t side) {
  const double scale = percent ? static_cast<double>(side) / 100.0 : 1.0;
  // Percents are written with six digits: an edge that means to lie between two pixels must not touch a third one.
  constexpr double kTolerance = 1e-3;
  const double begin = std::floor((first - margin * length) * scale + kTolerance);
  const double end = std::ceil((first + length + margin * length) * scale - kTolerance);
  const double low = std::clamp(begin, 0.0, static_cast<double>(side));
  const double high = std::clamp(end, 0.0, static_cast<double>(side));
  return {static_cast<std::size_t>(low), high > low ? static_cast<std::size_t>(high - low) : 0};
}

}  // namespace

PixelBox pixels_of(const MediaBox& box, std::size_t width, std::size_t height, double margin, std::string_view source) {
  if (!is_box(box)) {
    fail(ErrorKind::kInput, "{}: expected a box with a width and a height above 0, found {} x {}", source, box.width,
         box.height);
  }
  PixelBox pixels;
  std::tie(pixels.x, pixels.width) = extent(box.x, box.width, box.percent, margin, width);
  std::tie(pixels.y, pixels.height) = extent(box.y, box.height, box.percent, margin, height);
  if (pixels.width == 0 || pixels.height == 0) {
    fail(ErrorKind::kInput, "{}: expected a box inside of the picture of {} x {} pixels, found {},{},{},{}{}", source,
         width, height, box.x, box.y, box.width, box.height, box.percent ? " (percent)" : "");
  }
  return pixels;
}

Image crop_image(const Image& image, const PixelBox& box) {
  Image part = make_image(box.width, box.height);
  for (std::size_t y = 0; y < box.height; ++y) {
    const std::uint8_t* const from = image.pixels.get() + 3 * ((box.y + y) * image.width + box.x);
    std::copy(from, from + 3 * box.width, part.pixels.get() + 3 * y * box.width);
  }
  return part;
}

}  // namespace annulus
