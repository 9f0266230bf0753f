// TIFF through libtiff, read from memory; its converter gives 8-bit colours.
#include "annulus/vision/image/tiff.h"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// What a single strip, tile or table may take; the largest allowed picture as one strip of 16-bit RGB.
constexpr tmsize_t kLargestTiffBlock = tmsize_t{1200} << 20;

// The file in memory as libtiff reads it, and the first error that it reported.
struct TiffBytes {
  std::span<const std::byte> file;
  std::size_t position = 0;
  std::string error;
};

TiffBytes& bytes_of(thandle_t handle) { return *static_cast<TiffBytes*>(handle); }

tmsize_t read_tiff(thandle_t handle, void* to, tmsize_t size) {
  TiffBytes& bytes = bytes_of(handle);
  const std::size_t left = bytes.file.size() - std::min(bytes.position, bytes.file.size());
  const std::size_t count = std::min(left, static_cast<std::size_t>(std::max<tmsize_t>(size, 0)));
  if (count != 0) std::memcpy(to, bytes.file.data() + bytes.position, count);
  bytes.position += count;
  return static_cast<tmsize_t>(count);
}

toff_t seek_tiff(thandle_t handle, toff_t offset, int whence) {
  TiffBytes& bytes = bytes_of(handle);
  const std::size_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? bytes.position : bytes.file.size();
  bytes.position = from + static_cast<std::size_t>(offset);
  return bytes.position;
}

int map_tiff(thandle_t handle, void** data, toff_t* size) {
  // libtiff never writes to a file that is opened for reading.
  *data = const_cast<std::byte*>(bytes_of(handle).file.data());
  *size = bytes_of(handle).file.size();
  return 1;
}

int keep_tiff_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto& error = static_cast<TiffBytes*>(user)->error;
  std::array<char, 300> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  if (error.empty()) error = text.data();
  std::replace(error.begin(), error.end(), '\n', ' ');
  while (error.ends_with('.') || error.ends_with(' ')) error.pop_back();
  return 1;
}

struct ReleaseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

std::unique_ptr<TIFF, ReleaseTiff> open_tiff(TiffBytes& bytes) {
  const std::unique_ptr<TIFFOpenOptions, ReleaseTiff> options(TIFFOpenOptionsAlloc());
  if (!options) return nullptr;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kLargestTiffBlock);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_tiff_error, &bytes);
  TIFFOpenOptionsSetWarningHandlerExtR(
      options.get(), [](TIFF*, void*, const char*, const char*, va_list) { return 1; }, nullptr);
  // "m" would forbid what map_tiff allows; the two last functions are how a mapping is made and given back.
  return std::unique_ptr<TIFF, ReleaseTiff>(TIFFClientOpenExt(
      "photo", "r", &bytes, read_tiff, [](thandle_t, void*, tmsize_t) { return tmsize_t{0}; }, seek_tiff,
      [](thandle_t) { return 0; }, [](thandle_t handle) { return toff_t{bytes_of(handle).file.size()}; }, map_tiff,
      [](thandle_t, void*, toff_t) {}, options.get()));
}

[[noreturn]] void reject(const TiffBytes& bytes, std::string_view why, std::string_view source) {
  const std::string& error = bytes.error;
  if (error.find("Read error") != std::string::npos || error.find("got") != std::string::npos) {
    fail(ErrorKind::kFormat, "{}: the TIFF file is truncated: its data ends before the last pixel", source);
  }
  if (error.find("Can not read TIFF directory") != std::string::npos) {
    fail(ErrorKind::kFormat, "{}: the TIFF file is truncated or damaged: its directory cannot be read", source);
  }
  fail(ErrorKind::kFormat, "{}: the TIFF file cannot be decoded: {}", source, error.empty() ? why : error);
}

// libtiff would multiply colours by an alpha that is not multiplied in; said to be so already, they stay as they are.
void forget_alpha(TIFF* tiff) {
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0) return;
  std::vector<std::uint16_t> multiplied(count, EXTRASAMPLE_ASSOCALPHA);
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(count), multiplied.data());
}

// Rows that are stored together: converting fewer at a time would decode a strip more than once.
std::size_t rows_together(TIFF* tiff, std::size_t height) {
  std::uint32_t rows = 0;
  if (TIFFIsTiled(tiff) != 0) {
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows);
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  }
  return std::clamp<std::size_t>(rows, 1, height);
}

std::vector<std::byte> profile_of(TIFF* tiff) {
  std::uint32_t count = 0;
  const void* data = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &count, &data) == 0 || data == nullptr) return {};
  const auto* bytes = static_cast<const std::byte*>(data);
  return {bytes, bytes + count};
}

class TiffConverter {
 public:
  TiffConverter(TIFF* tiff, const TiffBytes& bytes, std::string_view source) : bytes_(bytes), source_(source) {
    std::array<char, 1024> why{};
    if (TIFFRGBAImageOK(tiff, why.data()) == 0 || TIFFRGBAImageBegin(&image_, tiff, 1, why.data()) == 0) {
      reject(bytes, why.data(), source);
    }
    image_.req_orientation = image_.orientation;  // rows stay as they are stored
  }
  ~TiffConverter() { TIFFRGBAImageEnd(&image_); }
  TiffConverter(const TiffConverter&) = delete;
  TiffConverter& operator=(const TiffConverter&) = delete;

  void convert(Image& image, std::size_t step, const DecodeLimits& limits) {
    const auto raster = std::make_unique_for_overwrite<std::uint32_t[]>(image.width * step);
    for (std::size_t y = 0; y < image.height; y += step) {
      check_decode_time(limits, source_);
      const std::size_t rows = std::min(step, image.height - y);
      image_.row_offset = static_cast<int>(y);
      if (TIFFRGBAImageGet(&image_, raster.get(), static_cast<std::uint32_t>(image.width),
                           static_cast<std::uint32_t>(rows)) == 0 ||
          !bytes_.error.empty()) {
        reject(bytes_, "its data is damaged", source_);
      }
      std::uint8_t* rgb = image.rows().row(y).data();
      for (std::size_t i = 0; i < rows * image.width; ++i) {
        const std::uint32_t pixel = raster[i];
        rgb[3 * i] = static_cast<std::uint8_t>(TIFFGetR(pixel));
        rgb[3 * i + 1] = static_cast<std::uint8_t>(TIFFGetG(pixel));
        rgb[3 * i + 2] = static_cast<std::uint8_t>(TIFFGetB(pixel));
      }
    }
  }

 private:
  TIFFRGBAImage image_{};
  const TiffBytes& bytes_;
  std::string_view source_;
};

}  // namespace

DecodedImage decode_tiff(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  TiffBytes bytes{file, 0, {}};
  const auto tiff = open_tiff(bytes);
  if (!tiff) reject(bytes, "it has no directory", source);
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  if (TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 ||
      TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0) {
    reject(bytes, "it states no size", source);
  }
  check_image_size(width, height, limits, "TIFF", source);
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  if (orientation < ORIENTATION_TOPLEFT || orientation > ORIENTATION_LEFTBOT) orientation = ORIENTATION_TOPLEFT;
  forget_alpha(tiff.get());
  bytes.error.clear();  // of tags that do not matter

  DecodedImage decoded{make_image(width, height), orientation, profile_of(tiff.get())};
  TiffConverter(tiff.get(), bytes, source).convert(decoded.image, rows_together(tiff.get(), height), limits);
  return decoded;
}

}  // namespace annulus
