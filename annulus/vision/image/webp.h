// Decodes WebP files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// Lossy and lossless, alpha dropped. An animation gives its first frame.
DecodedImage decode_webp(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
