// WebP through libwebp; libwebpdemux finds the EXIF block and draws the first frame of animations.
#include "annulus/vision/image/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "annulus/base/error.h"

namespace annulus {
namespace {

struct ReleaseDecoder {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
  void operator()(WebPIDecoder* decoder) const { WebPIDelete(decoder); }
};

const std::uint8_t* data_of(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

[[noreturn]] void reject(VP8StatusCode status, std::string_view source) {
  if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED) {
    fail(ErrorKind::kFormat, "{}: the WebP file is truncated: its data ends before the last pixel", source);
  }
  if (status == VP8_STATUS_OUT_OF_MEMORY) {
    fail(ErrorKind::kFormat, "{}: not enough memory to decode the WebP file", source);
  }
  fail(ErrorKind::kFormat, "{}: the WebP file cannot be decoded: its data is damaged", source);
}

std::span<const std::byte> find_chunk(const WebPDemuxer* demuxer, const char* name) {
  WebPChunkIterator chunk{};
  std::span<const std::byte> found;
  if (WebPDemuxGetChunk(demuxer, name, 1, &chunk) != 0) {
    found = std::as_bytes(std::span(chunk.chunk.bytes, chunk.chunk.size));  // lies within the file
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return found;
}

void read_metadata(std::span<const std::byte> file, DecodedImage& decoded) {
  const WebPData data{data_of(file), file.size()};
  const std::unique_ptr<WebPDemuxer, ReleaseDecoder> demuxer(WebPDemux(&data));
  if (!demuxer) return;
  decoded.orientation = exif_orientation(find_chunk(demuxer.get(), "EXIF"));
  const std::span<const std::byte> profile = find_chunk(demuxer.get(), "ICCP");
  decoded.profile.assign(profile.begin(), profile.end());
}

// The library is given the file a piece at a time, and the clock is looked at between.
void decode_still(std::span<const std::byte> file, Image& image, const DecodeLimits& limits, std::string_view source) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    fail(ErrorKind::kInternal, "{}: the WebP library is not the version this program was built for", source);
  }
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = image.pixels.get();
  config.output.u.RGBA.stride = static_cast<int>(3 * image.width);
  config.output.u.RGBA.size = 3 * image.width * image.height;
  const std::unique_ptr<WebPIDecoder, ReleaseDecoder> decoder(WebPIDecode(nullptr, 0, &config));
  VP8StatusCode status = decoder ? VP8_STATUS_SUSPENDED : VP8_STATUS_OUT_OF_MEMORY;
  for (std::size_t at = 0; status == VP8_STATUS_SUSPENDED && at < file.size();) {
    check_decode_time(limits, source);
    at = std::min(file.size(), at + kPiece);
    status = WebPIUpdate(decoder.get(), data_of(file), at);
  }
  if (status != VP8_STATUS_OK) reject(status, source);
}

void decode_first_frame(std::span<const std::byte> file, Image& image, std::string_view source) {
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) {
    fail(ErrorKind::kInternal, "{}: the WebP library is not the version this program was built for", source);
  }
  options.color_mode = MODE_RGBA;
  const WebPData data{data_of(file), file.size()};
  const std::unique_ptr<WebPAnimDecoder, ReleaseDecoder> decoder(WebPAnimDecoderNew(&data, &options));
  std::uint8_t* canvas = nullptr;
  int milliseconds = 0;
  if (!decoder || WebPAnimDecoderGetNext(decoder.get(), &canvas, &milliseconds) == 0) {
    fail(ErrorKind::kFormat,
         "{}: the first frame of the animated WebP file cannot be decoded: it is damaged or truncated", source);
  }
  for (std::size_t i = 0; i < image.width * image.height; ++i) {
    for (std::size_t c = 0; c < 3; ++c) image.pixels[3 * i + c] = canvas[4 * i + c];
  }
}

}  // namespace

DecodedImage decode_webp(std::span<const std::byte> file, const DecodeLimits& limits, std::string_view source) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(data_of(file), file.size(), &features);
  if (status != VP8_STATUS_OK) reject(status, source);
  const auto width = static_cast<std::size_t>(features.width);
  const auto height = static_cast<std::size_t>(features.height);
  check_image_size(width, height, limits, "WebP", source);

  DecodedImage decoded{make_image(width, height)};
  read_metadata(file, decoded);
  if (features.has_animation != 0) {
    decode_first_frame(file, decoded.image, source);
  } else {
    decode_still(file, decoded.image, limits, source);
  }
  return decoded;
}

}  // namespace annulus
