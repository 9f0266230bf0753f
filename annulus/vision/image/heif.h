// Decodes HEIC, HEIF and AVIF files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// The primary image, grids put together, 8 to 12 bits, alpha ignored. Rotations and mirrorings that
// the file asks for are applied, as the format demands of every reader, so the orientation is always 1.
DecodedImage decode_heif(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
