// Reads whole numbers from the first directory of a TIFF file, or of an EXIF block, which is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace annulus {

// Looks at the bytes when asked and keeps nothing else. Damage is like absence.
class TiffDirectory {
 public:
  static constexpr std::uint32_t kNewSubfileType = 254;
  static constexpr std::uint32_t kCompression = 259;
  static constexpr std::uint32_t kPhotometric = 262;
  static constexpr std::uint32_t kMake = 271;
  static constexpr std::uint32_t kOrientation = 274;
  static constexpr std::uint32_t kSubDirectories = 330;
  static constexpr std::uint32_t kJpegPreview = 513;
  static constexpr std::uint32_t kDngVersion = 50706;

  // `block` begins with the order of bytes, "II" or "MM".
  explicit TiffDirectory(std::span<const std::byte> block);

  bool has(std::uint32_t tag) const { return offset_of(tag).has_value(); }
  // The value of `tag` when it is a single whole number; of tags that occur twice the last counts.
  std::optional<std::uint32_t> value(std::uint32_t tag) const;

 private:
  std::optional<std::uint32_t> read(std::size_t offset, std::size_t width) const;
  std::optional<std::size_t> offset_of(std::uint32_t tag) const;

  std::span<const std::byte> block_;
  bool little_endian_ = false;
  std::size_t first_entry_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace annulus
