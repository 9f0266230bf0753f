// Walks the entries of a directory, 12 bytes each: tag, type, count, value.
#include "annulus/vision/image/tiff_directory.h"

#include <cstring>

namespace annulus {

TiffDirectory::TiffDirectory(std::span<const std::byte> block) : block_(block) {
  if (block.size() < 8) return;
  little_endian_ = std::memcmp(block.data(), "II", 2) == 0;
  if (!little_endian_ && std::memcmp(block.data(), "MM", 2) != 0) return;
  const auto directory = read(4, 4);
  const auto entries = directory ? read(*directory, 2) : std::nullopt;
  if (!entries) return;
  first_entry_ = std::size_t{*directory} + 2;
  entries_ = *entries;
}

// Unsigned, in the block's byte order; nothing beyond the end.
std::optional<std::uint32_t> TiffDirectory::read(std::size_t offset, std::size_t width) const {
  if (offset > block_.size() || block_.size() - offset < width) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const auto byte = std::to_integer<std::uint32_t>(block_[offset + (little_endian_ ? width - 1 - i : i)]);
    value = (value << 8) | byte;
  }
  return value;
}

std::optional<std::size_t> TiffDirectory::offset_of(std::uint32_t tag) const {
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < entries_; ++i) {
    const std::size_t offset = first_entry_ + 12 * i;
    const auto found = read(offset, 2);
    if (!found) break;
    if (*found == tag) last = offset;
  }
  return last;
}

std::optional<std::uint32_t> TiffDirectory::value(std::uint32_t tag) const {
  const auto offset = offset_of(tag);
  if (!offset) return std::nullopt;
  const auto type = read(*offset + 2, 2);
  if (!type || read(*offset + 4, 4) != 1U) return std::nullopt;
  switch (*type) {
    case 1:  // BYTE
    case 6:  // SBYTE
      return read(*offset + 8, 1);
    case 3:  // SHORT
    case 8:  // SSHORT
      return read(*offset + 8, 2);
    case 4:  // LONG
    case 9:  // SLONG
      return read(*offset + 8, 4);
    default:
      return std::nullopt;
  }
}

}  // namespace annulus
