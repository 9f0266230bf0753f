// Recognises an image file by its first bytes and hands it to the right decoder.
#include "annulus/vision/image.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/exif.h"
#include "annulus/vision/jpeg.h"
#include "annulus/vision/png.h"
#include "annulus/vision/webp.h"

namespace annulus {
namespace {

using namespace std::string_view_literals;

bool has_text_at(std::span<const std::byte> file, std::size_t offset, std::string_view text) {
  return file.size() >= offset + text.size() && std::memcmp(file.data() + offset, text.data(), text.size()) == 0;
}

// What a file that is none of ours looks like, to say so in words.
std::string_view describe_unknown(std::span<const std::byte> file) {
  struct Signature {
    std::size_t offset;
    std::string_view bytes;
    std::string_view name;
  };
  static constexpr std::array kKnown = {
      Signature{0, "GIF8"sv, "a GIF image"},
      Signature{0, "BM"sv, "a BMP image"},
      Signature{0, "II*\0"sv, "a TIFF image"},
      Signature{0, "MM\0*"sv, "a TIFF image"},
      Signature{4, "ftypavif"sv, "an AVIF image"},
      Signature{4, "ftypheic"sv, "a HEIC image"},
      Signature{4, "ftypmif1"sv, "a HEIF image"},
      Signature{0, "\xFF\x0A"sv, "a JPEG XL image"},
      Signature{0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image"},
      Signature{0, "%PDF"sv, "a PDF document"},
      Signature{0, "PK\3\4"sv, "a ZIP archive"},
  };
  for (const Signature& known : kKnown) {
    if (has_text_at(file, known.offset, known.bytes)) return known.name;
  }
  const auto head = file.first(std::min<std::size_t>(file.size(), 256));
  const bool is_text = std::all_of(head.begin(), head.end(), [](std::byte value) {
    const auto c = std::to_integer<unsigned char>(value);
    return c == '\t' || c == '\n' || c == '\r' || c >= ' ';
  });
  return is_text ? "text" : "unknown data";
}

}  // namespace

Image make_image(std::size_t width, std::size_t height) {
  return {width, height, std::make_unique_for_overwrite<std::uint8_t[]>(3 * width * height)};
}

void check_image_size(std::size_t width, std::size_t height, const DecodeLimits& limits, std::string_view format,
                      std::string_view source) {
  if (width == 0 || height == 0) {
    fail(ErrorKind::kFormat, "{}: expected an image with pixels, found a {} image of {} x {}", source, format, width,
         height);
  }
  if (width > limits.max_side || height > limits.max_side) {
    fail(ErrorKind::kFormat, "{}: the {} image is {} x {} pixels, a side longer than the limit of {}", source, format,
         width, height, limits.max_side);
  }
  if (width > limits.max_pixels / height) {
    fail(ErrorKind::kFormat, "{}: the {} image is {} x {} pixels, more than the limit of {} pixels", source, format,
         width, height, limits.max_pixels);
  }
}

Image decode_image(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source) {
  if (file.empty()) fail(ErrorKind::kFormat, "{}: expected a JPEG, PNG or WebP image, found an empty file", source);
  if (file.size() > options.limits.max_bytes) {
    fail(ErrorKind::kFormat, "{}: the image file has {} bytes, more than the limit of {}", source, file.size(),
         options.limits.max_bytes);
  }
  DecodedImage decoded;
  if (has_text_at(file, 0, "\xFF\xD8\xFF"sv)) {
    decoded = decode_jpeg(file, options.limits, source);
  } else if (has_text_at(file, 0, "\x89PNG\r\n\x1A\n"sv)) {
    decoded = decode_png(file, options.limits, source);
  } else if (has_text_at(file, 0, "RIFF"sv) && has_text_at(file, 8, "WEBP"sv)) {
    decoded = decode_webp(file, options.limits, source);
  } else {
    fail(ErrorKind::kFormat, "{}: expected a JPEG, PNG or WebP image, found {}", source, describe_unknown(file));
  }
  if (!options.apply_exif || decoded.orientation == 1) return std::move(decoded.image);
  return turned_upright(decoded.image, decoded.orientation);
}

}  // namespace annulus
