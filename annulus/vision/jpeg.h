// Decodes JPEG files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/exif.h"
#include "annulus/vision/image.h"

namespace annulus {

// Baseline and progressive, grey, YCbCr, RGB, CMYK and YCCK. Pixels lost to damage or a cut end are an error; harmless
// oddities (stray bytes between markers) are passed over.
DecodedImage decode_jpeg(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
