// PNG through libspng, which inflates and unfilters; samples are converted to RGB here.
#include "annulus/vision/image/png.h"

#include <spng.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// Deflate cannot compress by more than this, so a larger claim is false.
constexpr std::size_t kMaxDeflateRatio = 1032;
// What compressed text and colour profiles may inflate to, on top of the file's own size.
constexpr std::size_t kMetadataBytes = std::size_t{16} << 20;

struct ReleaseContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, ReleaseContext>;

using Palette = std::array<std::array<std::uint8_t, 3>, 256>;

[[noreturn]] void reject(int code, std::string_view source) {
  if (code == SPNG_EOF || code == SPNG_IO_EOF || code == SPNG_EIDAT_TOO_SHORT) {
    fail(ErrorKind::kFormat, "{}: the PNG file is truncated: its data ends before the last pixel", source);
  }
  if (code == SPNG_ECHUNK_LIMITS) {
    fail(ErrorKind::kFormat, "{}: the PNG file's text or colour profile is larger than the limit of {} MB", source,
         kMetadataBytes >> 20);
  }
  fail(ErrorKind::kFormat, "{}: the PNG file cannot be decoded: {}", source, spng_strerror(code));
}

// The size as the file states it, before the library computes with it. A file without a header is left to the library.
void check_stated_size(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  constexpr std::size_t kTypeOffset = 12;
  constexpr std::size_t kWidthOffset = 16;
  if (file.size() < kWidthOffset + 8 || std::memcmp(file.data() + kTypeOffset, "IHDR", 4) != 0) return;
  const auto number = [&](std::size_t offset) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::size_t>(file[offset + i]);
    return value;
  };
  check_image_size(number(kWidthOffset), number(kWidthOffset + 4), limits, "PNG", source);
}

void check(int code, std::string_view source) {
  if (code != 0) reject(code, source);
}

// Sample `x` of a row packed with `bits` (1, 2, 4 or 8) a sample, first sample in the highest bits.
unsigned packed_sample(const std::uint8_t* row, std::size_t x, unsigned bits) {
  const std::size_t bit = x * bits;
  return (unsigned{row[bit / 8]} >> (8 - bits - bit % 8)) & ((1U << bits) - 1);
}

// Turns a row as PNG stores it (big-endian samples) into RGB.
class RowConverter {
 public:
  RowConverter(const spng_ihdr& header, const Palette& palette) : header_(header), palette_(palette) {}

  void convert(const std::uint8_t* row, std::uint8_t* rgb) const {
    const std::size_t step = header_.bit_depth == 16 ? 2 : 1;  // bytes a sample; the first one is the high byte
    switch (header_.color_type) {
      case SPNG_COLOR_TYPE_INDEXED:
        return convert_palette(row, rgb);
      case SPNG_COLOR_TYPE_TRUECOLOR:
        return convert_samples<3>(row, 3 * step, step, rgb);
      case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
        return convert_samples<3>(row, 4 * step, step, rgb);
      case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
        return convert_samples<1>(row, 2 * step, step, rgb);
      default:
        return header_.bit_depth < 8 ? convert_packed_grey(row, rgb) : convert_samples<1>(row, step, step, rgb);
    }
  }

 private:
  template <std::size_t channels>
  void convert_samples(const std::uint8_t* row, std::size_t pixel, std::size_t step, std::uint8_t* rgb) const {
    for (std::size_t x = 0; x < header_.width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) rgb[3 * x + c] = row[x * pixel + (c % channels) * step];
    }
  }

  void convert_packed_grey(const std::uint8_t* row, std::uint8_t* rgb) const {
    const unsigned white = 255U / ((1U << header_.bit_depth) - 1);
    for (std::size_t x = 0; x < header_.width; ++x) {
      const auto grey = static_cast<std::uint8_t>(packed_sample(row, x, header_.bit_depth) * white);
      rgb[3 * x] = rgb[3 * x + 1] = rgb[3 * x + 2] = grey;
    }
  }

  void convert_palette(const std::uint8_t* row, std::uint8_t* rgb) const {
    for (std::size_t x = 0; x < header_.width; ++x) {
      const auto& colour = palette_[packed_sample(row, x, header_.bit_depth)];
      for (std::size_t c = 0; c < 3; ++c) rgb[3 * x + c] = colour[c];
    }
  }

  const spng_ihdr& header_;
  const Palette& palette_;
};

// Indices beyond the file's palette are grey levels, as Pillow shows them.
Palette read_palette(spng_ctx* context, std::string_view source) {
  Palette palette{};
  for (std::size_t i = 0; i < palette.size(); ++i) palette[i].fill(static_cast<std::uint8_t>(i));
  spng_plte stored{};
  check(spng_get_plte(context, &stored), source);
  for (std::size_t i = 0; i < stored.n_entries && i < palette.size(); ++i) {
    palette[i] = {stored.entries[i].red, stored.entries[i].green, stored.entries[i].blue};
  }
  return palette;
}

void read_rows(spng_ctx* context, const spng_ihdr& header, std::size_t row_bytes, const RowConverter& converter,
               Image& image, const DecodeLimits& limits, std::string_view source) {
  // An interlaced row is complete only after the last pass, so all of them are kept until then.
  const bool interlaced = header.interlace_method != SPNG_INTERLACE_NONE;
  std::vector<std::uint8_t> stored(interlaced ? row_bytes * header.height : row_bytes);
  check(spng_decode_image(context, nullptr, 0, SPNG_FMT_RAW, SPNG_DECODE_PROGRESSIVE), source);
  int code = 0;
  do {
    check_decode_time(limits, source);
    spng_row_info info{};
    code = spng_get_row_info(context, &info);
    if (code != 0) break;
    std::uint8_t* row = stored.data() + (interlaced ? row_bytes * info.row_num : 0);
    code = spng_decode_row(context, row, row_bytes);
    if (code != 0 && code != SPNG_EOI) break;
    if (!interlaced) converter.convert(row, image.rows().row(info.row_num).data());
  } while (code == 0);
  if (code != SPNG_EOI) reject(code, source);
  for (std::size_t y = 0; interlaced && y < image.height; ++y) {
    converter.convert(stored.data() + row_bytes * y, image.rows().row(y).data());
  }
}

}  // namespace

DecodedImage decode_png(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  check_stated_size(file, limits, source);
  const Context context(spng_ctx_new(0));
  if (!context) fail(ErrorKind::kInternal, "{}: the PNG library could not start", source);
  check(spng_set_png_buffer(context.get(), file.data(), file.size()), source);
  check(spng_set_chunk_limits(context.get(), file.size() + kMetadataBytes, file.size() + kMetadataBytes), source);

  spng_ihdr header{};
  check(spng_get_ihdr(context.get(), &header), source);
  std::size_t stored_bytes = 0;
  check(spng_decoded_image_size(context.get(), SPNG_FMT_RAW, &stored_bytes), source);
  if (stored_bytes / kMaxDeflateRatio > file.size()) {
    fail(ErrorKind::kFormat, "{}: the PNG file is truncated: {} bytes cannot hold {} x {} pixels", source, file.size(),
         header.width, header.height);
  }

  Palette palette{};
  if (header.color_type == SPNG_COLOR_TYPE_INDEXED) palette = read_palette(context.get(), source);
  spng_iccp stored_profile{};
  std::span<const std::byte> profile;
  const int profile_code = spng_get_iccp(context.get(), &stored_profile);
  if (profile_code == 0) {
    profile = std::as_bytes(std::span(stored_profile.profile, stored_profile.profile_len));
  } else if (profile_code != SPNG_ECHUNKAVAIL) {
    check(profile_code, source);  // the chunks before the pixels are read here
  }
  DecodedImage decoded{make_image(header.width, header.height), 1, {profile.begin(), profile.end()}};
  read_rows(context.get(), header, stored_bytes / header.height, RowConverter(header, palette), decoded.image, limits,
            source);

  // EXIF may come after the pixels; the image is complete by then, so an error there is ignored.
  spng_exif exif{};
  if (spng_decode_chunks(context.get()) == 0 && spng_get_exif(context.get(), &exif) == 0) {
    decoded.orientation = exif_orientation(std::as_bytes(std::span(exif.data, exif.length)));
  }
  return decoded;
}

}  // namespace annulus
