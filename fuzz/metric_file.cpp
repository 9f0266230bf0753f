// Fuzzes the reader of metric files.
#include "annulus/store/models/metric_file.h"

#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) { annulus::read_metric(file); });
}
