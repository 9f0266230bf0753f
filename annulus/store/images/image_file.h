// Reads image files from disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "annulus/vision/image/image.h"

namespace annulus {

// The whole file, if it has at most `max_bytes`. Throws Error{kIo} if it cannot be read or is not a regular file and
// Error{kFormat} if it is larger.
std::vector<std::byte> load_image_bytes(const std::filesystem::path& path, std::size_t max_bytes);

// The decoded file, or the box in it that `path` names (base/media_fragment.h); errors name the path.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

}  // namespace annulus
