// Fuzzes the conversion of TensorFlow.js models: any model.json, with shards of zeros.
#include <string_view>
#include <vector>

#include "annulus/vision/import/tfjs_import.h"
#include "fuzz/fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return annulus::fuzz_reader(data, size, [](const annulus::FileBytes& file) {
    static const std::vector<std::byte> kZeros(4096);
    const std::string_view json = annulus::as_text(file.bytes);
    const std::vector<std::span<const std::byte>> shards(annulus::tfjs_shards(json, file.source).size(), kZeros);
    const annulus::TfjsImport import = annulus::import_tfjs_model(json, shards, nullptr, file.source, 0);
    std::size_t written = 0;
    import.model.write([&](std::span<const std::byte> bytes) { written += bytes.size();
  });
});
}
