// Fuzzes decoding of GIF files, whatever they begin with.
#include "annulus/vision/image/gif.h"

#include "fuzz/fuzz_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_image(data, size, annulus::decode_gif);
}
