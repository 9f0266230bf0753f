// Fuzzes the reader of safetensors features.
#include "annulus/store/features/feature_formats.h"
#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) {
    annulus::FeatureSet{annulus::safetensors_features(file, false)};
  });
}
