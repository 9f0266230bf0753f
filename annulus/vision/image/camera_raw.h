// Decodes camera RAW files to RGB.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// The preview that the camera put into the file: the photo as the camera shows it. The sensor's data is not developed.
DecodedImage decode_camera_raw(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
