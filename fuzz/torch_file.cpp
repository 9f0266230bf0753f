// Fuzzes PyTorch files of both formats: every tensor that is described is read.
#include "annulus/vision/import/torch_file.h"

#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) {
    const annulus::TensorFile tensors = annulus::read_torch_file(file.bytes, nullptr, file.source, {true});
    for (const auto& [name, tensor] : tensors.tensors()) {
      if (tensor.type <= annulus::NumberType::kBfloat16) {
        tensors.read_floats(name);
      } else {
        tensors.read_integers(name);
      }
    }
  });
}
