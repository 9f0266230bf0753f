// Signatures and names of image files.
#include "annulus/vision/image/image_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "annulus/base/error.h"
#include "annulus/vision/image/tiff_directory.h"

namespace annulus {
namespace {

using namespace std::string_view_literals;

constexpr std::array kFormats = {
    ImageFormat{ImageType::kJpeg, "JPEG", "jpg", "libjpeg62-turbo-dev"},
    ImageFormat{ImageType::kPng, "PNG", "png", "libspng-dev"},
    ImageFormat{ImageType::kWebp, "WebP", "webp", "libwebp-dev"},
    ImageFormat{ImageType::kHeic, "HEIC", "heic", "libheif-dev"},
    ImageFormat{ImageType::kAvif, "AVIF", "avif", "libheif-dev"},
    ImageFormat{ImageType::kTiff, "TIFF", "tif", "libtiff-dev"},
    ImageFormat{ImageType::kGif, "GIF", "gif", "libgif-dev"},
    ImageFormat{ImageType::kBmp, "BMP", "bmp", ""},
    ImageFormat{ImageType::kJxl, "JPEG XL", "jxl", "libjxl-dev"},
    ImageFormat{ImageType::kRaw, "camera RAW", "raw", "libraw-dev"},
};

constexpr std::array kExtensions = {".jpg"sv, ".jpeg"sv, ".jpe"sv, ".jfif"sv, ".png"sv, ".webp"sv, ".heic"sv, ".heif"sv,
                                    ".hif"sv, ".avif"sv, ".tif"sv, ".tiff"sv, ".gif"sv, ".bmp"sv,  ".dib"sv,  ".jxl"sv};
constexpr std::array kRawExtensions = {".dng"sv, ".cr2"sv, ".cr3"sv, ".crw"sv, ".nef"sv, ".nrw"sv, ".arw"sv,
                                       ".sr2"sv, ".raf"sv, ".orf"sv, ".rw2"sv, ".rwl"sv, ".pef"sv, ".srw"sv,
                                       ".mrw"sv, ".x3f"sv, ".3fr"sv, ".iiq"sv, ".raw"sv};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Files of boxes: the first one names the brands that the file belongs to.
std::optional<ImageType> type_by_brand(std::string_view file) {
  constexpr std::size_t kMostBrands = 32;
  if (file.size() < 12 || file.substr(4, 4) != "ftyp") return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(file[i]);
  length = std::min({length, file.size(), std::size_t{16} + 4 * kMostBrands});
  bool is_heif = false;
  // The main brand, its version, and the others.
  for (std::size_t at = 8; at + 4 <= std::max<std::size_t>(length, 12); at += 4) {
    if (at == 12) continue;
    const std::string_view brand = file.substr(at, 4);
    if (brand == "avif" || brand == "avis") return ImageType::kAvif;
    if (brand == "crx ") return ImageType::kRaw;
    if (brand == "mif1" || brand == "msf1" || brand == "heic" || brand == "heix" || brand == "heim" ||
        brand == "heis" || brand == "hevc" || brand == "hevx") {
      is_heif = true;
    }
  }
  return is_heif ? std::optional(ImageType::kHeic) : std::nullopt;
}

// Cameras whose RAW files have a beginning of their own.
bool begins_like_raw(std::string_view file) {
  return file.starts_with("IIRO") || file.starts_with("IIRS") || file.starts_with("MMOR") ||
         file.starts_with("IIU\0"sv) || file.starts_with("FUJIFILMCCD-RAW") || file.starts_with("FOVb") ||
         file.starts_with("\0MRM"sv) || (file.starts_with("II\x1A\0"sv) && file.substr(6, 8) == "HEAPCCDR");
}

// Other RAW files are TIFF files whose first picture is a small one, or is kept as only a camera's maker does.
bool is_raw_tiff(std::span<const std::byte> file, std::string_view text) {
  constexpr std::uint32_t kReduced = 1;
  constexpr std::uint32_t kColourFilterArray = 32803;
  constexpr std::uint32_t kLinearRaw = 34892;
  constexpr std::array<std::uint32_t, 4> kCompressionsOfMakers = {32767, 32770, 34713, 65535};
  if (text.size() >= 10 && text.substr(8, 2) == "CR") return true;  // Canon's CR2
  const TiffDirectory directory(file);
  if (directory.has(TiffDirectory::kDngVersion)) return true;
  if (!directory.has(TiffDirectory::kMake)) return false;
  const auto kind = directory.value(TiffDirectory::kNewSubfileType);
  const auto colours = directory.value(TiffDirectory::kPhotometric);
  const auto compression = directory.value(TiffDirectory::kCompression);
  const bool of_maker = compression && std::find(kCompressionsOfMakers.begin(), kCompressionsOfMakers.end(),
                                                 *compression) != kCompressionsOfMakers.end();
  return of_maker || colours == kColourFilterArray || colours == kLinearRaw ||
         (directory.has(TiffDirectory::kSubDirectories) &&
          ((kind && (*kind & kReduced) != 0) || directory.has(TiffDirectory::kJpegPreview)));
}

// "BM" begins many a text: the size of the header and the planes must be right too.
bool begins_like_bmp(std::string_view file) {
  if (!file.starts_with("BM") || file.size() < 18) return false;
  const auto header = static_cast<unsigned char>(file[14]);
  return file[15] == 0 && file[16] == 0 && file[17] == 0 && header >= 12 && header <= 124;
}

}  // namespace

std::span<const ImageFormat> image_formats() { return kFormats; }

const std::string& image_format_names() {
  static const std::string kNames = [] {
    std::string names;
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
      names += i == 0 ? "" : i + 1 == kFormats.size() ? " or " : ", ";
      names += kFormats[i].name;
    }
    return names;
  }();
  return kNames;
}

std::optional<ImageType> image_type_of(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with("\xFF\xD8\xFF")) return ImageType::kJpeg;
  if (text.starts_with("\x89PNG\r\n\x1A\n")) return ImageType::kPng;
  // Between the two words is the length of the file.
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP") return ImageType::kWebp;
  if (text.starts_with("GIF87a") || text.starts_with("GIF89a")) return ImageType::kGif;
  // A bare stream, or one in boxes.
  if (text.starts_with("\xFF\x0A") || text.starts_with("\0\0\0\x0CJXL \r\n\x87\n"sv)) return ImageType::kJxl;
  if (begins_like_raw(text)) return ImageType::kRaw;
  // The number after the order of bytes is 43 in files for more than 4 GB.
  for (const std::string_view head : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (text.starts_with(head)) return is_raw_tiff(file, text) ? ImageType::kRaw : ImageType::kTiff;
  }
  if (begins_like_bmp(text)) return ImageType::kBmp;
  return type_by_brand(text);
}

std::string_view extension_of(ImageType type) {
  for (const ImageFormat& format : kFormats) {
    if (format.type == type) return format.extension;
  }
  fail(ErrorKind::kInternal, "image type {} has no extension", static_cast<int>(type));
}

bool is_image_type_extension(std::string_view extension) {
  return std::any_of(kFormats.begin(), kFormats.end(),
                     [&](const ImageFormat& format) { return format.extension == extension; });
}

bool is_image_extension(std::string_view extension) {
  const std::string lower = lower_case(extension);
  return std::find(kExtensions.begin(), kExtensions.end(), lower) != kExtensions.end() || is_raw_extension(lower);
}

bool is_raw_extension(std::string_view extension) {
  return std::find(kRawExtensions.begin(), kRawExtensions.end(), lower_case(extension)) != kRawExtensions.end();
}

void reject_missing_format(ImageType type, std::string_view source) {
  const ImageFormat& format = kFormats[static_cast<std::size_t>(type)];
  fail(ErrorKind::kFormat,
       "{}: this build of annulus cannot read {} images: install the Debian package {} and build it again, or convert "
       "the file to JPEG",
       source, format.name, format.package);
}

}  // namespace annulus
