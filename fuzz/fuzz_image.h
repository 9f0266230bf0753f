// What the fuzzers of single image decoders have in common: bytes go to a decoder, which gives pixels or throws
// Error{kFormat}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "annulus/base/error.h"
#include "annulus/vision/image/exif.h"

namespace annulus {

template <class Decode>
int fuzz_image(const std::uint8_t* data, std::size_t size, const Decode& decode) {
  DecodeLimits limits;
  limits.max_pixels = std::size_t{1} << 20;
  try {
    const DecodedImage decoded = decode(std::as_bytes(std::span(data, size)), limits, "fuzz");
    if (decoded.orientation < 1 || decoded.orientation > 8) std::abort();
    turned_upright(decoded.image, decoded.orientation);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFormat) std::abort();
  }
  return 0;
}

}  // namespace annulus
