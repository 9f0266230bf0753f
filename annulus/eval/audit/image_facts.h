// Properties of an image that an audit uses besides its features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace annulus {

struct ImageFacts {
  std::string path;
  std::string sha256;     // of the file, or of a part of it; empty: it could not be read
  std::string error;      // why it cannot be used; empty: it can
  std::size_t width = 0;  // pixels, upright
  std::size_t height = 0;
  // Difference hash: where brightness rises from left to right on a grid of 9 x 8; similar for resized copies.
  std::uint64_t look = 0;
  double contrast = 0.0;  // standard deviation of brightness, of 255
};

}  // namespace annulus
