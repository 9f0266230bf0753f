// EXIF orientation: finding it in the metadata of a photo and turning the photo upright.
#pragma once

#include <cstddef>
#include <span>

#include "annulus/vision/image.h"

namespace annulus {

// What a decoder gives: pixels as stored, and the EXIF orientation (1 to 8, 1 when there is none).
struct DecodedImage {
  Image image;
  int orientation = 1;
};

// The orientation in an EXIF block (a TIFF header and directory, with or without the "Exif\0\0" in front); 1 when the
// block has none or is damaged: damaged metadata is no reason to refuse a photo.
int exif_orientation(std::span<const std::byte> exif);

// The image that `orientation` (2 to 8) says is meant, as Pillow's ImageOps.exif_transpose makes it; 1 gives a copy.
Image turned_upright(const Image& stored, int orientation);

}  // namespace annulus
