// Decodes PNG files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// Every colour type and bit depth, interlaced or not. Alpha and gamma are ignored; of 16-bit samples
// the high byte is kept. An animation gives its default image.
DecodedImage decode_png(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
