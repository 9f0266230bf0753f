// BMP, read by hand: a header, a palette or bit fields, and rows from the bottom to the top.
#include "annulus/vision/image/bmp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// Two bytes of a run-length code stand for at most 255 pixels.
constexpr std::size_t kMaxBmpPixelsPerByte = 255;
// Beyond the runs, an escape code may leave pixels out; small pictures may consist of nothing else.
constexpr std::size_t kFreeBmpPixels = std::size_t{1} << 24;

enum BmpCompression : std::uint32_t {
  kBmpPlain = 0,
  kBmpRuns8 = 1,
  kBmpRuns4 = 2,
  kBmpFields = 3,
  kBmpAlphaFields = 6
};

class BmpFile {
 public:
  BmpFile(std::span<const std::byte> file, std::string_view source) : file_(file), source_(source) {}

  Image decode(const DecodeLimits& limits) {
    read_header();
    check_image_size(width_, height_, limits, "BMP", source_);
    Image image;
    if (compression_ == kBmpRuns8 || compression_ == kBmpRuns4) {
      if (width_ * height_ > kFreeBmpPixels && width_ * height_ / kMaxBmpPixelsPerByte > file_.size()) cannot_hold();
      read_palette();
      image = make_image(width_, height_);
      read_runs(image, limits);
    } else {
      // Rows are filled up to a multiple of four bytes.
      const std::size_t row_bytes = (width_ * bits_ + 31) / 32 * 4;
      if (pixels_ > file_.size() || (file_.size() - pixels_) / row_bytes < height_) cannot_hold();
      if (bits_ <= 8) read_palette();
      image = make_image(width_, height_);
      for (std::size_t y = 0; y < height_; ++y) {
        check_decode_time(limits, source_);
        read_row(pixels_ + y * row_bytes, image.rows().row(top_down_ ? y : height_ - 1 - y).data());
      }
    }
    return image;
  }

 private:
  struct Field {
    std::uint32_t mask = 0;

    // The bits of the mask as 0 to 255.
    std::uint8_t of(std::uint32_t pixel) const {
      if (mask == 0) return 0;
      const int shift = std::countr_zero(mask);
      const std::uint64_t most = mask >> shift;
      return static_cast<std::uint8_t>((std::uint64_t{(pixel & mask) >> shift} * 255 + most / 2) / most);
    }
  };

  [[noreturn]] void reject_bmp(const std::string& why) const {
    fail(ErrorKind::kFormat, "{}: the BMP file cannot be decoded: {}", source_, why);
  }

  [[noreturn]] void cut_short() const {
    fail(ErrorKind::kFormat, "{}: the BMP file is truncated: its data ends before the last pixel", source_);
  }

  [[noreturn]] void cannot_hold() const {
    fail(ErrorKind::kFormat, "{}: the BMP file is truncated: {} bytes cannot hold {} x {} pixels", source_,
         file_.size(), width_, height_);
  }

  std::uint32_t number(std::size_t offset, std::size_t bytes) const {
    if (offset > file_.size() || file_.size() - offset < bytes) cut_short();
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint32_t>(file_[offset + i]) << (8 * i);
    return value;
  }

  void read_header() {
    constexpr std::size_t kHeader = 14;
    pixels_ = number(10, 4);
    const std::size_t size = number(kHeader, 4);
    palette_ = kHeader + size;
    if (size == 12) {  // OS/2 1
      width_ = number(kHeader + 4, 2);
      height_ = number(kHeader + 6, 2);
      bits_ = number(kHeader + 10, 2);
      colour_bytes_ = 3;
    } else if (size >= 40 && size <= 124) {
      const auto width = static_cast<std::int32_t>(number(kHeader + 4, 4));
      const auto height = static_cast<std::int32_t>(number(kHeader + 8, 4));
      top_down_ = height < 0;
      width_ = width < 0 ? 0 : static_cast<std::size_t>(width);
      height_ = static_cast<std::size_t>(height < 0 ? -std::int64_t{height} : std::int64_t{height});
      bits_ = number(kHeader + 14, 2);
      compression_ = number(kHeader + 16, 4);
      colours_stated_ = number(kHeader + 32, 4);
    } else {
      reject_bmp(fmt::format("expected a header of 12 or of 40 to 124 bytes, found {}", size));
    }
    check_kind();
    read_fields(kHeader, size);
  }

  void check_kind() const {
    const bool plain = compression_ == kBmpPlain && (bits_ == 1 || bits_ == 4 || bits_ == 8 || bits_ >= 16);
    const bool runs = (compression_ == kBmpRuns8 && bits_ == 8) || (compression_ == kBmpRuns4 && bits_ == 4);
    const bool fields = (compression_ == kBmpFields || compression_ == kBmpAlphaFields) && (bits_ == 16 || bits_ == 32);
    const bool known_bits = bits_ <= 8 || bits_ == 16 || bits_ == 24 || bits_ == 32;
    if (!known_bits || !(plain || runs || fields)) {
      reject_bmp(fmt::format("{} bits a pixel with compression {} are not read; save it as PNG", bits_, compression_));
    }
  }

  void read_fields(std::size_t header, std::size_t size) {
    if (bits_ == 16) fields_ = {Field{0x7C00}, Field{0x03E0}, Field{0x001F}};
    if (bits_ == 32) fields_ = {Field{0xFF0000}, Field{0x00FF00}, Field{0x0000FF}};
    if (compression_ != kBmpFields && compression_ != kBmpAlphaFields) return;
    // They stand at the same place whether they belong to the header or follow it.
    for (std::size_t c = 0; c < 3; ++c) fields_[c].mask = number(header + 40 + 4 * c, 4);
    if (size == 40) palette_ += compression_ == kBmpAlphaFields ? 16 : 12;
  }

  // Indices beyond the palette are black.
  void read_palette() {
    const std::size_t most = std::size_t{1} << bits_;
    std::size_t count = colours_stated_ == 0 ? most : std::min<std::size_t>(colours_stated_, most);
    // Old writers leave out colours: the pixels then begin before the palette should end.
    if (pixels_ > palette_) count = std::min(count, (pixels_ - palette_) / colour_bytes_);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        colours_[i][c] = static_cast<std::uint8_t>(number(palette_ + colour_bytes_ * i + 2 - c, 1));
      }
    }
  }

  void put(std::size_t index, std::uint8_t* rgb) const {
    std::copy(colours_[index].begin(), colours_[index].end(), rgb);
  }

  // The row was checked to lie within the file.
  void read_row(std::size_t offset, std::uint8_t* rgb) const {
    const auto* row = reinterpret_cast<const std::uint8_t*>(file_.data()) + offset;
    if (bits_ <= 8) {
      for (std::size_t x = 0; x < width_; ++x) {
        const std::size_t bit = x * bits_;
        put((std::size_t{row[bit / 8]} >> (8 - bits_ - bit % 8)) & ((std::size_t{1} << bits_) - 1), rgb + 3 * x);
      }
    } else if (bits_ == 24) {
      for (std::size_t x = 0; x < width_; ++x) {
        for (std::size_t c = 0; c < 3; ++c) rgb[3 * x + c] = row[3 * x + 2 - c];
      }
    } else {
      const std::size_t bytes = bits_ / 8;
      for (std::size_t x = 0; x < width_; ++x) {
        std::uint32_t pixel = 0;
        for (std::size_t i = 0; i < bytes; ++i) pixel |= std::uint32_t{row[bytes * x + i]} << (8 * i);
        for (std::size_t c = 0; c < 3; ++c) rgb[3 * x + c] = fields_[c].of(pixel);
      }
    }
  }

  // Pairs of bytes: a count and a colour (or two, of 4 bits, in turn); a count of 0 begins an escape.
  void read_runs(Image& image, const DecodeLimits& limits) const {
    constexpr std::size_t kRunsBetweenLooks = 1024;  // at the clock
    for (std::size_t i = 0; i < width_ * height_; ++i) put(0, &image.pixels[3 * i]);
    std::size_t at = pixels_;
    std::size_t x = 0;
    std::size_t y = 0;
    const auto paint = [&](std::size_t index) {
      if (x < width_ && y < height_) put(index, image.rows().row(top_down_ ? y : height_ - 1 - y).data() + 3 * x);
      ++x;
    };
    const auto colour_at = [&](std::uint32_t value, std::size_t i) {
      return bits_ == 8 ? std::size_t{value} : std::size_t{i % 2 == 0 ? value >> 4 : value & 15U};
    };
    for (std::size_t runs = 0; y < height_; ++runs) {
      if (runs % kRunsBetweenLooks == 0) check_decode_time(limits, source_);
      const std::uint32_t count = number(at, 1);
      const std::uint32_t value = number(at + 1, 1);
      at += 2;
      if (count != 0) {
        for (std::size_t i = 0; i < count; ++i) paint(colour_at(value, i));
      } else if (value == 0) {  // the end of the row
        x = 0;
        ++y;
      } else if (value == 1) {  // the end of the picture
        return;
      } else if (value == 2) {  // a step to the right and up
        x += number(at, 1);
        y += number(at + 1, 1);
        at += 2;
      } else {  // colours one by one, filled up to a multiple of two bytes
        const std::size_t per_byte = 8 / bits_;
        for (std::size_t i = 0; i < value; ++i) paint(colour_at(number(at + i / per_byte, 1), i));
        at += ((value + per_byte - 1) / per_byte + 1) / 2 * 2;
      }
    }
  }

  std::span<const std::byte> file_;
  std::string_view source_;
  std::size_t width_ = 0;
  std::size_t height_ = 0;
  std::size_t bits_ = 0;
  std::uint32_t compression_ = kBmpPlain;
  bool top_down_ = false;
  std::size_t pixels_ = 0;   // where they begin
  std::size_t palette_ = 0;  // where it begins
  std::size_t colour_bytes_ = 4;
  std::size_t colours_stated_ = 0;
  std::array<Field, 3> fields_{};
  std::array<std::array<std::uint8_t, 3>, 256> colours_{};
};

}  // namespace

DecodedImage decode_bmp(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  return {BmpFile(file, source).decode(limits), 1};
}

}  // namespace annulus
