// Joins checkpoint readers, network builders and the ONNX writer.
#include "annulus/store/import.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/atomic_file.h"
#include "annulus/store/checkpoint_file.h"
#include "annulus/store/mapped_file.h"
#include "annulus/vision/architecture.h"
#include "annulus/vision/encoder_import.h"
#include "annulus/vision/tfjs_import.h"

namespace annulus {
namespace {

constexpr int kLargestImage = 4096;

// The evaluation recipe of the network's authors, at another size in proportion.
std::string recipe_for(const std::string& preset, int image_size) {
  if (image_size == 224) return preset;
  return fmt::format("{} resize=shorter:{} crop={}x{}", preset, (image_size * 256 + 112) / 224, image_size, image_size);
}

std::string usual_recipe(const Architecture& net, const std::string& layout) {
  const int size = net.image_size;
  if (net.family == NetworkFamily::kVit || net.family == NetworkFamily::kResnet) {
    return layout.starts_with("PMF") && size == 224 ? "square-224" : recipe_for("imagenet", size);
  }
  if (size == 32 || size == 80 || size == 84) return fmt::format("episode-{}", size);
  return fmt::format("episode-80 resize={}x{}", size, size);
}

void write_model(OnnxModel& model, const ImportReport& report, const std::filesystem::path& onnx_out) {
  model.metadata("annulus.arch", report.arch);
  model.metadata("annulus.layout", report.layout);
  model.metadata("annulus.preprocess", report.preprocess);
  model.metadata("annulus.source_sha256", report.source_sha256);
  AtomicFile file(onnx_out);
  model.write([&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

void check_image_size(int image_size) {
  if (image_size < 0 || image_size > kLargestImage) {
    fail(ErrorKind::kUsage, "expected an image size of 1 to {} pixels, or 0 for the usual one, found {}", kLargestImage,
         image_size);
  }
}

bool is_tfjs(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) || path.extension() == ".json";
}

}  // namespace

ImportReport import_tfjs(const std::filesystem::path& model_json, const ImportOptions& options,
                         const std::filesystem::path& onnx_out) {
  check_image_size(options.image_size);
  const FileBytes json = map_file(model_json);
  Sha256 checksum;
  checksum.update(json.bytes);
  auto files = std::make_shared<std::vector<FileBytes>>();
  std::vector<std::span<const std::byte>> shards;
  for (const std::string& name : tfjs_shards(as_text(json.bytes), json.source)) {
    files->push_back(map_file(model_json.parent_path() / name));
    shards.push_back(files->back().bytes);
    checksum.update(shards.back());
  }
  TfjsImport import = import_tfjs_model(as_text(json.bytes), shards, files, json.source, options.image_size);
  check_image_size(import.image_size);
  ImportReport report;
  report.arch = options.arch.empty() ? import.layout : options.arch;
  report.layout = import.layout;
  report.preprocess =
      options.preprocess.empty() ? recipe_for(import.preprocessing, import.image_size) : options.preprocess;
  report.source_sha256 = checksum.finish_hex();
  report.image_size = import.image_size;
  report.tensors_used = import.used;
  report.dropped = std::move(import.dropped);
  report.notes = std::move(import.notes);
  write_model(import.model, report, onnx_out);
  return report;
}

ImportReport import_checkpoint(const std::filesystem::path& checkpoint, const ImportOptions& options,
                               const std::filesystem::path& onnx_out) {
  if (is_tfjs(checkpoint)) {
    const bool folder = std::filesystem::is_directory(checkpoint);
    return import_tfjs(folder ? checkpoint / "model.json" : checkpoint, options, onnx_out);
  }
  check_image_size(options.image_size);
  Architecture net = parse_architecture(options.arch);
  if (options.image_size > 0) net.image_size = options.image_size;
  const FileBytes file = map_file(checkpoint);
  const TensorFile tensors = read_checkpoint(file, {options.allow_inert_objects});
  EncoderImport import = import_encoder(tensors, net, {options.within});
  ImportReport report;
  report.arch = options.arch;
  report.layout = import.layout;
  report.preprocess = options.preprocess.empty() ? usual_recipe(net, import.layout) : options.preprocess;
  report.source_sha256 = sha256_hex(file.bytes);
  report.image_size = net.image_size;
  report.tensors_used = import.used;
  report.dropped = std::move(import.dropped);
  report.notes = std::move(import.notes);
  write_model(import.model, report, onnx_out);
  return report;
}

}  // namespace annulus
