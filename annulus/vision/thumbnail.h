// Small pictures for pages.
#pragma once

#include <cstddef>
#include <string>

#include "annulus/vision/image.h"

namespace annulus {

// `image` shrunk so that its longer side has at most `side` pixels (never enlarged), as a data: URI of a WebP file of a
// few kilobytes. side must be at least 1 and at most 1024.
std::string thumbnail_uri(const Image& image, std::size_t side);

}  // namespace annulus
