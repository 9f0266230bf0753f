// Crops, mirrors and changes colours.
#include "annulus/vision/preprocess/random_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace annulus {
namespace {

constexpr std::uint64_t kNumbersPerView = 8;
constexpr double kLeastArea = 0.35;
constexpr double kMostRatio = 4.0 / 3.0;
constexpr double kColourChange = 0.4;
constexpr std::array<float, 3> kLuma{0.299F, 0.587F, 0.114F};  // of red, green and blue

// Random numbers of one view, one after the other.
class ViewNumbers {
 public:
  ViewNumbers(const RandomStream& stream, std::uint64_t view) : stream_(stream), next_(view * kNumbersPerView) {}

  double between(double low, double high) { return low + (high - low) * stream_.uniform(next_++); }

 private:
  RandomStream stream_;
  std::uint64_t next_;
};

std::size_t rounded_side(double side, std::size_t most) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(side)), 1, most);
}

float grey_of(const std::uint8_t* pixel) {
  return kLuma[0] * static_cast<float>(pixel[0]) + kLuma[1] * static_cast<float>(pixel[1]) +
         kLuma[2] * static_cast<float>(pixel[2]);
}

// Brightness is a factor of values, contrast of differences from the mean grey, saturation of those from a pixel's own.
void change_colours(Image& image, float brightness, float contrast, float saturation) {
  const std::size_t pixels = image.width * image.height;
  double sum = 0.0;
  for (std::size_t i = 0; i < pixels; ++i) sum += static_cast<double>(grey_of(image.pixels.get() + 3 * i));
  const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
  for (std::size_t i = 0; i < pixels; ++i) {
    std::uint8_t* const pixel = image.pixels.get() + 3 * i;
    const float grey = grey_of(pixel);
    for (std::size_t c = 0; c < 3; ++c) {
      const float saturated = grey + saturation * (static_cast<float>(pixel[c]) - grey);
      const float value = brightness * (mean + contrast * (saturated - mean));
      pixel[c] = static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
    }
  }
}

}  // namespace

Image random_view(const Image& image, const RandomStream& stream, std::uint64_t number) {
  ViewNumbers numbers(stream, number);
  const double side = std::sqrt(numbers.between(kLeastArea, 1.0));
  const double ratio = std::exp(numbers.between(-std::log(kMostRatio), std::log(kMostRatio)) / 2.0);
  Image view = make_image(rounded_side(side * ratio * static_cast<double>(image.width), image.width),
                          rounded_side(side / ratio * static_cast<double>(image.height), image.height));
  const auto place = [&](std::size_t free) {
    return static_cast<std::size_t>(numbers.between(0.0, static_cast<double>(free + 1)));
  };
  const std::size_t left = std::min(place(image.width - view.width), image.width - view.width);
  const std::size_t top = std::min(place(image.height - view.height), image.height - view.height);
  const bool mirrored = numbers.between(0.0, 1.0) < 0.5;
  for (std::size_t y = 0; y < view.height; ++y) {
    const std::uint8_t* const from = image.rows().row(top + y).data() + 3 * left;
    std::uint8_t* const to = view.rows().row(y).data();
    for (std::size_t x = 0; x < view.width; ++x) {
      std::copy_n(from + 3 * (mirrored ? view.width - 1 - x : x), 3, to + 3 * x);
    }
  }
  const auto factor = [&] { return static_cast<float>(numbers.between(1.0 - kColourChange, 1.0 + kColourChange)); };
  const float brightness = factor();
  const float contrast = factor();
  change_colours(view, brightness, contrast, factor());
  return view;
}

}  // namespace annulus
