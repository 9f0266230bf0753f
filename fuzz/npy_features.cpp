// Fuzzes the reader of .npy features, and of .npy labels and label lists.
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/formats/npy.h"
#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) {
    annulus::FeatureSetParts parts;
    annulus::read_labels(file, parts);
  });
  return annulus::fuzz_reader(data, size,
                              [](const annulus::FileBytes& file) { annulus::FeatureSet{annulus::npy_features(file)}; });
}
