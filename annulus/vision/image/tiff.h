// Decodes TIFF files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// The first page: grey, palette, RGB, CMYK, YCbCr and Lab in strips or tiles, in every compression of libtiff, of 1 to
// 16 bits a sample. Alpha is ignored.
DecodedImage decode_tiff(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
