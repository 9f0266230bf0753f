// WebP through libwebp; libwebpdemux finds the EXIF block and draws the first frame of animations.
#include "annulus/vision/image/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <cstdint>
#include <memory>

#include "annulus/base/error.h"

namespace annulus {
namespace {

struct ReleaseDecoder {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
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

int orientation_of(std::span<const std::byte> file) {
  const WebPData data{data_of(file), file.size()};
  const std::unique_ptr<WebPDemuxer, ReleaseDecoder> demuxer(WebPDemux(&data));
  if (!demuxer) return 1;
  WebPChunkIterator chunk{};
  int orientation = 1;
  if (WebPDemuxGetChunk(demuxer.get(), "EXIF", 1, &chunk) != 0) {
    orientation = exif_orientation(std::as_bytes(std::span(chunk.chunk.bytes, chunk.chunk.size)));
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

void decode_still(std::span<const std::byte> file, Image& image, std::string_view source) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    fail(ErrorKind::kInternal, "{}: the WebP library is not the version this program was built for", source);
  }
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = image.pixels.get();
  config.output.u.RGBA.stride = static_cast<int>(3 * image.width);
  config.output.u.RGBA.size = 3 * image.width * image.height;
  const VP8StatusCode status = WebPDecode(data_of(file), file.size(), &config);
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

  DecodedImage decoded{make_image(width, height), orientation_of(file)};
  if (features.has_animation != 0) {
    decode_first_frame(file, decoded.image, source);
  } else {
    decode_still(file, decoded.image, source);
  }
  return decoded;
}

}  // namespace annulus
