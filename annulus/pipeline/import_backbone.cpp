// Joins checkpoint readers, network builders and the ONNX writer.
#include "annulus/pipeline/import_backbone.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/pipeline/import_onnx.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/models/weights_file.h"
#include "annulus/vision/import/encoder_import.h"
#include "annulus/vision/import/tfjs_import.h"
#include "annulus/vision/networks/architecture.h"

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
  if (net.family == NetworkFamily::kClipVit || net.family == NetworkFamily::kClipResnet) {
    return size == 224 ? "clip" : fmt::format("clip resize=shorter:{0} crop={0}x{0}", size);
  }
  if (net.family == NetworkFamily::kSiglip) return fmt::format("signed resize={0}x{0} crop=none", size);
  if (net.family != NetworkFamily::kWideResnet && net.family != NetworkFamily::kResnet12) {
    return layout.starts_with("PMF") && size == 224 ? "square-224" : recipe_for("imagenet", size);
  }
  if (size == 32 || size == 80 || size == 84) return fmt::format("episode-{}", size);
  return fmt::format("episode-80 resize={}x{}", size, size);
}

std::string feature_text(const Architecture& net, TokenFeature feature) {
  if (!net.is_transformer()) return "";
  const std::string pooled = net.family == NetworkFamily::kSiglip ? "pooled by attention" : "class token";
  switch (feature) {
    case TokenFeature::kMean:
      return "mean of patch tokens";
    case TokenFeature::kClassAndMean:
      return pooled + " and mean of patch tokens";
    default:
      return pooled;
  }
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

void write_imported_model(OnnxModel& model, const ImportReport& report, const std::filesystem::path& onnx_out) {
  model.metadata("annulus.arch", report.arch);
  model.metadata("annulus.layout", report.layout);
  if (!report.preprocess.empty()) model.metadata("annulus.preprocess", report.preprocess);
  if (!report.feature.empty()) model.metadata("annulus.feature", report.feature);
  model.metadata("annulus.source_sha256", report.source_sha256);
  AtomicFile file(onnx_out);
  model.write([&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

ImportReport import_tfjs(const std::filesystem::path& model_json, const ImportOptions& options,
                         const std::filesystem::path& onnx_out) {
  check_image_size(options.image_size);
  if (options.feature != TokenFeature::kUsual) {
    fail_field(ErrorKind::kUsage, "feature",
               "{} {} is a choice among the tokens of a transformer; {} has only one feature",
               token_feature_word(options.feature), model_json.string());
  }
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
  write_imported_model(import.model, report, onnx_out);
  return report;
}

ImportReport import_checkpoint(const std::filesystem::path& checkpoint, const ImportOptions& options,
                               const std::filesystem::path& onnx_out) {
  if (is_tfjs(checkpoint)) {
    const bool folder = std::filesystem::is_directory(checkpoint);
    return import_tfjs(folder ? checkpoint / "model.json" : checkpoint, options, onnx_out);
  }
  check_image_size(options.image_size);
  if (is_onnx_file(checkpoint)) return import_onnx(checkpoint, options, onnx_out);
  Architecture net = parse_architecture(options.arch);
  if (options.image_size > 0) net.image_size = options.image_size;
  const FileBytes file = map_file(checkpoint);
  const TensorFile tensors = read_checkpoint(file, {options.allow_inert_objects});
  EncoderImport import = import_encoder(tensors, net, {options.within, options.feature});
  ImportReport report;
  report.arch = options.arch;
  report.layout = import.layout;
  report.preprocess = options.preprocess.empty() ? usual_recipe(net, import.layout) : options.preprocess;
  report.feature = feature_text(net, options.feature);
  report.source_sha256 = sha256_hex(file.bytes);
  report.image_size = net.image_size;
  report.tensors_used = import.used;
  report.dropped = std::move(import.dropped);
  report.notes = std::move(import.notes);
  write_imported_model(import.model, report, onnx_out);
  return report;
}

}  // namespace annulus
