// EXIF orientation: reads it from the metadata of a photo and turns the photo upright.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "annulus/vision/image/image.h"

namespace annulus {

// The result of a decoder: pixels as stored, the EXIF orientation (1 to 8, 1 if there is none), and the ICC profile of
// the colours, empty if there is none.
struct DecodedImage {
  Image image;
  int orientation = 1;
  std::vector<std::byte> profile{};
};

// The orientation in an EXIF block (a TIFF header and directory, with or without "Exif\0\0" in front); 1 if the block
// has none or is damaged: damaged metadata is no reason to reject a photo.
int exif_orientation(std::span<const std::byte> exif);

// The image turned upright by `orientation` (2 to 8), as Pillow's ImageOps.exif_transpose does; 1 gives a copy.
Image turned_upright(const Image& stored, int orientation);

}  // namespace annulus
