// Small pictures for pages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "annulus/vision/image/image.h"

namespace annulus {

// `image` resized to width x height pixels, at least 1 each, by antialiased bilinear interpolation.
Image shrink_image(const Image& image, std::size_t width, std::size_t height);

// `image` shrunk so that its longer side has at most `side` pixels (never enlarged), as the bytes of a WebP file of a
// few kilobytes. side must be at least 1 and at most 1024.
std::string thumbnail_webp(const Image& image, std::size_t side);
// The squares in the middle of `images`, each resized to `side` x `side` pixels, from left to right in one WebP file
// with `gap` white pixels after each; an image without pixels leaves its square white. side must be at least 1, and the
// whole at most 16383 pixels wide.
std::string strip_webp(std::span<const Image> images, std::size_t side, std::size_t gap);
// The bytes of a WebP file as a data: URI.
std::string webp_uri(std::string_view webp);
// Both at once.
std::string thumbnail_uri(const Image& image, std::size_t side);

}  // namespace annulus
