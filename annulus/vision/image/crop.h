// The part of a picture that a box names.
#pragma once

#include <cstddef>
#include <string_view>

#include "annulus/base/media_fragment.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// Whole pixels, inside of a picture.
struct PixelBox {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t width = 0;
  std::size_t height = 0;

  bool operator==(const PixelBox&) const = default;
};

// Every pixel of a picture of width x height that the box touches, after `margin` times the box's own width (height)
// was added on the left and right (above and below). What lies outside of the picture is cut off. `source` names the
// picture. Throws Error{kInput} when nothing is left.
PixelBox pixels_of(const MediaBox& box, std::size_t width, std::size_t height, double margin, std::string_view source);

// A copy of these pixels.
Image crop_image(const Image& image, const PixelBox& box);

}  // namespace annulus
