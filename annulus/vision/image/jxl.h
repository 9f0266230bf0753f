// Decodes JPEG XL files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// A bare stream or one in boxes, lossy, lossless or made of a JPEG; the first frame of an animation. The orientation
// is applied by the library, as the format demands, so it is always 1. Alpha is ignored.
DecodedImage decode_jxl(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
