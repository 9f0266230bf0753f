// Fuzzes decoding of TIFF files, whatever they begin with.
#include "annulus/vision/image/tiff.h"

#include "fuzz/fuzz_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_image(data, size, annulus::decode_tiff);
}
