// Fuzzes the reader of ONNX graphs that are put inside exported models.
#include "annulus/vision/onnx/onnx_graph.h"

#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) {
    annulus::read_onnx_graph(file.bytes, "backbone/", file.source);
  });
}
