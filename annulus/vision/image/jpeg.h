// Decodes JPEG files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// Baseline and progressive, grey, YCbCr, RGB, CMYK and YCCK. Pixels lost to damage or truncation are an error; harmless
// oddities (stray bytes between markers) are ignored.
DecodedImage decode_jpeg(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
