// Fuzzes the pickle reader and the search for tensors in what it read.
#include "annulus/vision/import/pickle.h"

#include "annulus/vision/import/torch_objects.h"
#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const bool allow_inert_objects : {false, true}) {
    annulus::fuzz_reader(data, size, [&](const annulus::FileBytes& file) {
      annulus::find_torch_objects(annulus::read_pickle(file.bytes, file.source), file.source,
                                  {allow_inert_objects, allow_inert_objects});
    });
  }
  return 0;
}
