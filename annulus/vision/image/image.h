// Images in memory and how they are decoded from the bytes of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "annulus/base/clock.h"
#include "annulus/base/matrix.h"

namespace annulus {

// 8-bit RGB, channels interleaved, rows from top to bottom without padding.
struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::unique_ptr<std::uint8_t[]> pixels;  // 3 * width * height values

  // A row of the view is a row of pixels, 3 * width values.
  MatrixView<std::uint8_t> rows() { return {pixels.get(), height, 3 * width}; }
  ConstMatrixView<std::uint8_t> rows() const { return {pixels.get(), height, 3 * width}; }
};

// An image whose pixels are not initialised.
Image make_image(std::size_t width, std::size_t height);

// The first three are checked against a file's header before memory is allocated for its pixels.
struct DecodeLimits {
  std::size_t max_pixels = 200'000'000;          // 600 MB as RGB; the largest phone cameras give 200 million
  std::size_t max_side = 100'000;                // keeps the resampling tables of an extreme shape small
  std::size_t max_bytes = std::size_t{1} << 28;  // of the compressed file
  // Of a progressive JPEG: its scans times max_pixels. Encoders write up to 18, each a pass over the whole image.
  std::size_t max_scans_of_largest = 20;
  SteadyTime deadline = SteadyTime::max();  // decoding that has not ended by then is given up
};

struct DecodeOptions {
  bool apply_exif = true;  // turn the image upright as its EXIF orientation says
  bool to_srgb = false;    // convert its colours to sRGB as its ICC profile says
  DecodeLimits limits{};
};

// Decodes an image file of any format of image_formats() to RGB. The format is recognised by content. Pixels are those
// of Pillow's convert("RGB"): transparency is dropped, CMYK is read by Adobe's convention, colour profiles are
// applied where options ask for it; only 16-bit grey differs (its high byte is kept, where Pillow clips to white).
// `source` names the file in errors. Throws Error{kFormat} for damaged, truncated or unknown files and files beyond the
// limits, Error{kCancelled} after the deadline, which is heard between rows, scans, blocks or pieces; HEIC and AVIF are
// decoded in one call.
Image decode_image(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source);

// Throws Error{kFormat} when an image of that size is beyond the limits; used by the decoders.
void check_image_size(std::size_t width, std::size_t height, const DecodeLimits& limits, std::string_view format,
                      std::string_view source);

// Throws Error{kCancelled} after the deadline; used by the decoders.
void check_decode_time(const DecodeLimits& limits, std::string_view source);

}  // namespace annulus
