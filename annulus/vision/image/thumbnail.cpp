// Shrinks with the resampler of preprocessing, encodes with libwebp.
#include "annulus/vision/image/thumbnail.h"

#include <webp/encode.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "annulus/base/base64.h"
#include "annulus/base/error.h"
#include "annulus/vision/preprocess/resample.h"

namespace annulus {
namespace {

constexpr float kQuality = 80.0F;

struct WebpRelease {
  void operator()(std::uint8_t* bytes) const { WebPFree(bytes); }
};

std::string encode_webp(const Image& image) {
  std::uint8_t* encoded = nullptr;
  const std::size_t size =
      WebPEncodeRGB(image.pixels.get(), static_cast<int>(image.width), static_cast<int>(image.height),
                    static_cast<int>(3 * image.width), kQuality, &encoded);
  const std::unique_ptr<std::uint8_t, WebpRelease> owner(encoded);
  if (size == 0) {
    fail(ErrorKind::kInternal, "libwebp could not encode a picture of {} x {} pixels", image.width, image.height);
  }
  return {reinterpret_cast<const char*>(encoded), size};
}

// `side` positions in the middle of an axis of `length` pixels when the shorter axis, of `shorter`, becomes `side`.
ResampleAxis middle_axis(std::size_t length, std::size_t shorter, std::size_t side) {
  const std::size_t whole = length * side / shorter;
  return make_resample_axis(length, whole, (whole - side) / 2, side, Interpolation::kBilinear);
}

// Resizes into `out`, whose rows are those of pixels.
void resample_image(const Image& image, const ResampleAxis& across, const ResampleAxis& down,
                    MatrixView<std::uint8_t> out) {
  Image narrow = make_image(across.windows.size(), image.height);
  resample_rgb_rows(image.rows(), across, narrow.rows());
  const Image& from = narrow;
  for (std::size_t y = 0; y < down.windows.size(); ++y) {
    const ResampleAxis::Window& window = down.windows[y];
    resample_columns(from.rows().rows_at(window.first, window.count), down.weights_of(window), out.row(y));
  }
}

}  // namespace

Image shrink_image(const Image& image, std::size_t width, std::size_t height) {
  Image small = make_image(width, height);
  resample_image(image, make_resample_axis(image.width, width, 0, width, Interpolation::kBilinear),
                 make_resample_axis(image.height, height, 0, height, Interpolation::kBilinear), small.rows());
  return small;
}

std::string thumbnail_webp(const Image& image, std::size_t side) {
  const std::size_t longer = std::max({image.width, image.height, side});
  const std::size_t width = std::max<std::size_t>(1, image.width * side / longer);
  const std::size_t height = std::max<std::size_t>(1, image.height * side / longer);
  return encode_webp(shrink_image(image, width, height));
}

std::string strip_webp(std::span<const Image> images, std::size_t side, std::size_t gap) {
  Image strip = make_image((side + gap) * images.size(), side);
  std::fill_n(strip.pixels.get(), 3 * strip.width * strip.height, std::uint8_t{255});
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Image& image = images[i];
    const std::size_t shorter = std::min(image.width, image.height);
    if (shorter == 0) continue;
    const MatrixView<std::uint8_t> square(strip.pixels.get() + 3 * (side + gap) * i, side, 3 * side, 3 * strip.width);
    resample_image(image, middle_axis(image.width, shorter, side), middle_axis(image.height, shorter, side), square);
  }
  return encode_webp(strip);
}

std::string webp_uri(std::string_view webp) { return "data:image/webp;base64," + base64_encoded(webp); }

std::string thumbnail_uri(const Image& image, std::size_t side) { return webp_uri(thumbnail_webp(image, side)); }

}  // namespace annulus
