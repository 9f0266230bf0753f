// One graph around another: images in its order and type, then its tokens pooled.
#include "annulus/pipeline/import_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/onnx/onnx_graph.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {
namespace {

constexpr const char* kInnerPrefix = "network/";
constexpr std::uint64_t kLeastOpset = 10;  // the first whose Slice takes its ends as inputs
constexpr std::int64_t kFloatType = 1;
constexpr std::int64_t kHalfType = 10;
constexpr std::size_t kUsualImage = 224;

std::int64_t as_length(std::size_t value) { return static_cast<std::int64_t>(value); }

// The usual output, or one of tokens.
Backbone open_output(const std::filesystem::path& network, TokenFeature feature) {
  Backbone usual(network);
  if (feature == TokenFeature::kUsual || usual.output_rank() == 3) return usual;
  if (feature == TokenFeature::kClass && usual.output_rank() == 2) return usual;
  BackboneOptions options;
  options.output = "last_hidden_state";
  try {
    Backbone tokens(network, options);
    if (tokens.output_rank() == 3) return tokens;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
  }
  fail_field(ErrorKind::kUsage, "feature",
             "{} {} needs an output of tokens, [batch, tokens, d]; {} has none: its output \"{}\" is one vector per "
             "image",
             token_feature_word(feature), network.string(), usual.output().name);
}

std::string add_class_token(OnnxModel& graph, const std::string& tokens, const Backbone& backbone) {
  const std::string first = graph.node("Gather", {tokens, graph.integers("zero", {0})}, {{"axis", std::int64_t{1}}});
  return graph.node("Reshape", {first, graph.integers("rows", {-1, as_length(backbone.dimension())})});
}

std::string add_patch_mean(OnnxModel& graph, const std::string& tokens, std::size_t count, std::size_t patches) {
  const std::string kept =
      graph.node("Slice", {tokens, graph.integers("first_patch", {as_length(count - patches)}),
                           graph.integers("last_patch", {as_length(count)}), graph.integers("token_axis", {1})});
  return graph.reduce("ReduceMean", kept, {1}, false);
}

std::string pooled_output(OnnxModel& graph, const Backbone& backbone, TokenFeature feature, std::string& text) {
  std::string output = kInnerPrefix + backbone.output().name;
  if (backbone.output().type == TensorType::kHalf) output = graph.node("Cast", {output}, {{"to", kFloatType}});
  if (backbone.output_rank() == 4) {
    using Axes = std::vector<std::int64_t>;
    return graph.reduce("ReduceMean", output, backbone.channels_last() ? Axes{1, 2} : Axes{2, 3}, false);
  }
  if (backbone.output_rank() == 2) return output;
  const std::size_t count = backbone.token_count();
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
  const std::size_t patches = side * side;
  if (feature != TokenFeature::kMean && patches == count) {
    fail_field(ErrorKind::kUsage, "feature",
               "expected {} to be mean: \"{}\" of {} has {} tokens, all of them patches, and no class token",
               backbone.output().name, backbone.file().string(), count);
  }
  text = feature == TokenFeature::kMean ? "mean of patch tokens" : "class token";
  if (feature == TokenFeature::kMean) return add_patch_mean(graph, output, count, patches);
  const std::string class_token = add_class_token(graph, output, backbone);
  if (feature != TokenFeature::kClassAndMean) return class_token;
  text = "class token and mean of patch tokens";
  return graph.node("Concat", {class_token, add_patch_mean(graph, output, count, patches)},
                    {{"axis", std::int64_t{1}}});
}

}  // namespace

bool is_onnx_file(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

ImportReport import_onnx(const std::filesystem::path& network, const ImportOptions& options,
                         const std::filesystem::path& onnx_out) {
  const Backbone backbone = open_output(network, options.feature);
  const auto wanted = static_cast<std::size_t>(options.image_size);
  if (wanted > 0 && backbone.height() > 0 && (wanted != backbone.height() || wanted != backbone.width())) {
    fail_field(ErrorKind::kUsage, "image_size", "expected {} to be {}, the only one that {} takes, found {}",
               backbone.height(), network.string(), wanted);
  }
  const std::size_t height = backbone.height() > 0 ? backbone.height() : wanted > 0 ? wanted : kUsualImage;
  const std::size_t width = backbone.width() > 0 ? backbone.width() : wanted > 0 ? wanted : kUsualImage;
  const FileBytes file = map_file(network);
  OnnxGraph inner = read_onnx_graph(file.bytes, kInnerPrefix, file.source);
  const std::string input = kInnerPrefix + backbone.input().name;
  const auto opset = inner.opsets.find("");
  if (std::find(inner.inputs.begin(), inner.inputs.end(), input) == inner.inputs.end() ||
      (opset != inner.opsets.end() && opset->second < kLeastOpset)) {
    fail(ErrorKind::kInput, "{}: expected one input \"{}\" and ONNX's operator set {} or newer; use the file as it is",
         network.string(), backbone.input().name, kLeastOpset);
  }

  OnnxModel graph;
  const std::int64_t batch = backbone.input().shape.front() > 0 ? as_length(backbone.batch()) : -1;
  graph.input("pixel_values", {batch, 3, as_length(height), as_length(width)});
  std::string pixels = "pixel_values";
  if (backbone.channels_last()) {
    pixels = graph.node("Transpose", {pixels}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
  }
  if (backbone.input().type == TensorType::kHalf) pixels = graph.node("Cast", {pixels}, {{"to", kHalfType}});
  graph.node("Identity", {pixels}, {}, input);
  graph.embed(std::move(inner));
  ImportReport report;
  graph.node("Identity", {pooled_output(graph, backbone, options.feature, report.feature)}, {}, "features");
  const bool both = options.feature == TokenFeature::kClassAndMean && backbone.output_rank() == 3;
  graph.output("features", {batch, as_length(backbone.dimension() * (both ? 2 : 1))});

  report.arch = options.arch.empty() ? "ONNX file" : options.arch;
  report.layout = fmt::format("ONNX file, output {}", backbone.output().name);
  report.preprocess = options.preprocess.empty() ? backbone.preprocessing() : options.preprocess;
  report.source_sha256 = backbone.sha256();
  report.image_size = static_cast<int>(height);
  if (report.preprocess.empty()) {
    report.notes.push_back("the file does not say how to prepare images: give the recipe when you use it");
  }
  write_imported_model(graph, report, onnx_out);
  return report;
}

}  // namespace annulus
