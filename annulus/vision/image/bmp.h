// Decodes BMP files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// Windows and OS/2 files of 1, 4, 8, 16, 24 and 32 bits, bit fields and run lengths included; alpha is ignored.
DecodedImage decode_bmp(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
