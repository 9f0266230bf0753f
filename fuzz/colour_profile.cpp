// Fuzzes ICC profiles, of a picture with colours and of a grey one.
#include "annulus/vision/image/colour_profile.h"

#include <algorithm>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSide = 16;
  annulus::Image colours = annulus::make_image(kSide, kSide);
  annulus::Image greys = annulus::make_image(kSide, kSide);
  for (std::size_t i = 0; i < 3 * kSide * kSide; ++i) {
    colours.pixels[i] = static_cast<std::uint8_t>(7 * i);
    greys.pixels[i] = static_cast<std::uint8_t>(i / 3);
  }
  for (annulus::Image* const image : {&colours, &greys}) {
    annulus::convert_to_srgb(*image, std::as_bytes(std::span(data, size)), {}, "fuzz");
  }
  return 0;
}
