// Fuzzes the reader of catalogues of backbones.
#include "annulus/pipeline/backbones/backbone_catalogue.h"

#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) {
    for (const annulus::BackboneEntry& entry : annulus::parse_catalogue(annulus::as_text(file.bytes), file.source)) {
      annulus::training_text(entry);
    }
  });
}
