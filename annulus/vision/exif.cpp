// Reads the one EXIF field that moves pixels, and moves them.
#include "annulus/vision/exif.h"

#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace annulus {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;

// Unsigned numbers of a TIFF block in the block's byte order; a read beyond the end gives nothing.
class TiffNumbers {
 public:
  TiffNumbers(std::span<const std::byte> block, bool little_endian) : block_(block), little_endian_(little_endian) {}

  std::optional<std::uint32_t> read(std::size_t offset, std::size_t width) const {
    if (offset > block_.size() || block_.size() - offset < width) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const auto byte = std::to_integer<std::uint32_t>(block_[offset + (little_endian_ ? width - 1 - i : i)]);
      value = (value << 8) | byte;
    }
    return value;
  }

 private:
  std::span<const std::byte> block_;
  bool little_endian_;
};

// The value of a directory entry at `offset`, when it is a single whole number.
std::optional<std::uint32_t> entry_value(const TiffNumbers& numbers, std::size_t offset) {
  const auto type = numbers.read(offset + 2, 2);
  if (!type || numbers.read(offset + 4, 4) != 1U) return std::nullopt;
  switch (*type) {
    case 1:  // BYTE
    case 6:  // SBYTE
      return numbers.read(offset + 8, 1);
    case 3:  // SHORT
    case 8:  // SSHORT
      return numbers.read(offset + 8, 2);
    case 4:  // LONG
    case 9:  // SLONG
      return numbers.read(offset + 8, 4);
    default:
      return std::nullopt;
  }
}

}  // namespace

int exif_orientation(std::span<const std::byte> exif) {
  constexpr std::size_t kPrefix = 6;
  if (exif.size() >= kPrefix && std::memcmp(exif.data(), "Exif\0\0", kPrefix) == 0) exif = exif.subspan(kPrefix);
  if (exif.size() < 8) return 1;
  const bool little_endian = std::memcmp(exif.data(), "II", 2) == 0;
  if (!little_endian && std::memcmp(exif.data(), "MM", 2) != 0) return 1;

  const TiffNumbers numbers(exif, little_endian);
  const auto directory = numbers.read(4, 4);
  const auto entries = directory ? numbers.read(*directory, 2) : std::nullopt;
  if (!entries) return 1;
  int orientation = 1;
  for (std::size_t i = 0; i < *entries; ++i) {
    const std::size_t offset = std::size_t{*directory} + 2 + 12 * i;
    const auto tag = numbers.read(offset, 2);
    if (!tag) break;
    if (*tag != kOrientationTag) continue;
    const auto value = entry_value(numbers, offset);
    orientation = value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
  }
  return orientation;
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
