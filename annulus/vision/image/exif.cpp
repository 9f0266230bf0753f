// Reads the EXIF orientation, and transposes images.
#include "annulus/vision/image/exif.h"

#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>

#include "annulus/vision/image/tiff_directory.h"

namespace annulus {

int exif_orientation(std::span<const std::byte> exif) {
  constexpr std::size_t kPrefix = 6;
  if (exif.size() >= kPrefix && std::memcmp(exif.data(), "Exif\0\0", kPrefix) == 0) exif = exif.subspan(kPrefix);
  const auto value = TiffDirectory(exif).value(TiffDirectory::kOrientation);
  return value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
}

Image turned_upright(const Image& stored, int orientation) {
  assert(orientation >= 1 && orientation <= 8);
  const bool swap_axes = orientation >= 5;
  const std::size_t width = swap_axes ? stored.height : stored.width;
  const std::size_t height = swap_axes ? stored.width : stored.height;
  // Whether walking right (down) in the result walks backwards through the stored rows or columns.
  const bool flip_right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool flip_down = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;

  Image upright = make_image(width, height);
  const std::ptrdiff_t stored_row = static_cast<std::ptrdiff_t>(3 * stored.width);
  const std::ptrdiff_t right = (swap_axes ? stored_row : 3) * (flip_right ? -1 : 1);
  std::uint8_t* out = upright.pixels.get();
  for (std::size_t y = 0; y < height; ++y) {
    const std::size_t across = flip_right ? width - 1 : 0;
    const std::size_t down = flip_down ? height - 1 - y : y;
    const std::uint8_t* in =
        stored.pixels.get() + (swap_axes ? 3 * (across * stored.width + down) : 3 * (down * stored.width + across));
    for (std::size_t x = 0; x < width; ++x) {
      std::memcpy(out, in + static_cast<std::ptrdiff_t>(x) * right, 3);
      out += 3;
    }
  }
  return upright;
}

}  // namespace annulus
