// Decodes GIF files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// The first frame on its canvas; transparency is dropped, and what the frame leaves free has the colour of its
// transparent index, else of index 0, as Pillow shows it.
DecodedImage decode_gif(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
