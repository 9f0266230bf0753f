// Recognises an image file by its first bytes and calls its decoder.
#include "annulus/vision/image/image.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/image/bmp.h"
#include "annulus/vision/image/camera_raw.h"
#include "annulus/vision/image/colour_profile.h"
#include "annulus/vision/image/exif.h"
#include "annulus/vision/image/gif.h"
#include "annulus/vision/image/heif.h"
#include "annulus/vision/image/image_type.h"
#include "annulus/vision/image/jpeg.h"
#include "annulus/vision/image/jxl.h"
#include "annulus/vision/image/png.h"
#include "annulus/vision/image/tiff.h"
#include "annulus/vision/image/webp.h"

namespace annulus {
namespace {

using namespace std::string_view_literals;

bool has_text_at(std::span<const std::byte> file, std::size_t offset, std::string_view text) {
  return file.size() >= offset + text.size() && std::memcmp(file.data() + offset, text.data(), text.size()) == 0;
}

// Signatures of unsupported formats, for messages.
std::string_view describe_unknown(std::span<const std::byte> file) {
  struct Signature {
    std::size_t offset;
    std::string_view bytes;
    std::string_view name;
  };
  static constexpr std::array kKnown = {
      Signature{0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image"},
      Signature{0, "%PDF"sv, "a PDF document"},
      Signature{0, "PK\3\4"sv, "a ZIP archive"},
      Signature{4, "ftyp"sv, "a video, of which no frames were chosen"},
      Signature{0, "\x1A\x45\xDF\xA3"sv, "a video, of which no frames were chosen"},
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

// Formats whose library was left out of the build (ANNULUS_IMAGE_FORMATS in cmake/image_formats.cmake).
DecodedImage decode_as(ImageType type, std::span<const std::byte> file, const DecodeLimits& limits,
                       std::string_view source) {
  switch (type) {
    case ImageType::kJpeg:
      return decode_jpeg(file, limits, source);
    case ImageType::kPng:
      return decode_png(file, limits, source);
    case ImageType::kWebp:
      return decode_webp(file, limits, source);
    case ImageType::kBmp:
      return decode_bmp(file, limits, source);
    case ImageType::kHeic:
    case ImageType::kAvif:
#if defined(ANNULUS_WITH_HEIF)
      return decode_heif(file, limits, source);
#else
      break;
#endif
    case ImageType::kTiff:
#if defined(ANNULUS_WITH_TIFF)
      return decode_tiff(file, limits, source);
#else
      break;
#endif
    case ImageType::kGif:
#if defined(ANNULUS_WITH_GIF)
      return decode_gif(file, limits, source);
#else
      break;
#endif
    case ImageType::kJxl:
#if defined(ANNULUS_WITH_JXL)
      return decode_jxl(file, limits, source);
#else
      break;
#endif
    case ImageType::kRaw:
#if defined(ANNULUS_WITH_RAW)
      return decode_camera_raw(file, limits, source);
#else
      break;
#endif
  }
  reject_missing_format(type, source);
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

void check_decode_time(const DecodeLimits& limits, std::string_view source) {
  if (limits.deadline == SteadyTime::max() || now() < limits.deadline) return;
  fail(ErrorKind::kCancelled, "{}: decoding took longer than the time there was", source);
}

Image decode_image(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source) {
  if (file.empty()) {
    fail(ErrorKind::kFormat, "{}: expected a {} image, found an empty file", source, image_format_names());
  }
  if (file.size() > options.limits.max_bytes) {
    fail(ErrorKind::kFormat, "{}: the image file has {} bytes, more than the limit of {}", source, file.size(),
         options.limits.max_bytes);
  }
  const std::optional<ImageType> type = image_type_of(file);
  if (!type) {
    fail(ErrorKind::kFormat, "{}: expected a {} image, found {}", source, image_format_names(), describe_unknown(file));
  }
  check_decode_time(options.limits, source);
  DecodedImage decoded = decode_as(*type, file, options.limits, source);
  if (options.to_srgb) convert_to_srgb(decoded.image, decoded.profile, options.limits, source);
  if (!options.apply_exif || decoded.orientation == 1) return std::move(decoded.image);
  return turned_upright(decoded.image, decoded.orientation);
}

}  // namespace annulus
