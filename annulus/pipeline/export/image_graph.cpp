// Prepares images in the graph, embeds networks, pools and joins their features.
#include "annulus/pipeline/export/image_graph.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/pipeline/export/model_graph.h"
#include "annulus/vision/onnx/onnx_graph.h"

namespace annulus {
namespace {

constexpr std::uint64_t kOldestOpset = 10;  // the first with TopK as the head uses it
constexpr std::int64_t kFloatTensor = 1;
constexpr std::int64_t kHalfTensor = 10;

std::int64_t extent_of(std::size_t value) { return static_cast<std::int64_t>(value); }

std::string one_value(OnnxModel& graph, const std::string& name, float value) {
  return graph.floats(name, {1}, {value});
}

// One network in a file, and what its values and constants are called.
struct Embedding {
  const ExportedEncoder& encoder;
  std::string network;  // before the names of the network's own values
  std::string image;    // before those of what prepares its images and pools its features
};

std::string colour_constant(OnnxModel& graph, const std::string& name, const std::array<float, 3>& values) {
  return graph.floats(name, {1, 3, 1, 1}, {values.begin(), values.end()});
}

// Scales values from 0 to 1 to those that the network was trained on.
std::string add_scaling(OnnxModel& graph, const PreprocessRecipe& recipe, const std::string& pixels,
                        const std::string& prefix) {
  switch (recipe.scaling) {
    case ValueScaling::kUnit:
      return pixels;
    case ValueScaling::kSigned:
      return graph.node("Sub", {graph.node("Mul", {pixels, one_value(graph, prefix + "two", 2.0F)}),
                                one_value(graph, prefix + "one", 1.0F)});
    case ValueScaling::kMeanStd:
      return graph.node("Div", {graph.node("Sub", {pixels, colour_constant(graph, prefix + "mean", recipe.mean)}),
                                colour_constant(graph, prefix + "std", recipe.std)});
    case ValueScaling::kSubtract:
      break;
  }
  return graph.node("Sub", {graph.node("Mul", {pixels, one_value(graph, prefix + "range", 255.0F)}),
                            colour_constant(graph, prefix + "mean", recipe.mean)});
}

// The images and their mirror images, one after the other in the batch.
std::string add_mirror_images(OnnxModel& graph, std::size_t width) {
  std::vector<std::int64_t> columns(width);
  for (std::size_t x = 0; x < width; ++x) columns[x] = extent_of(width - 1 - x);
  const std::string mirrored = graph.node("Gather", {kImagesInput, graph.integers("image/columns", std::move(columns))},
                                          {{"axis", std::int64_t{3}}});
  return graph.node("Concat", {kImagesInput, mirrored}, {{"axis", std::int64_t{0}}});
}

void add_network_input(OnnxModel& graph, const Embedding& embedding, std::string pixels, const std::string& input) {
  const Backbone& backbone = embedding.encoder.backbone;
  const PreprocessRecipe& recipe = embedding.encoder.recipe;
  pixels = add_scaling(graph, recipe, pixels, embedding.image);
  if (recipe.channels == ChannelOrder::kBgr) {
    pixels = graph.node("Gather", {pixels, graph.integers(embedding.image + "blue_first", {2, 1, 0})},
                        {{"axis", std::int64_t{1}}});
  }
  if (backbone.channels_last()) {
    pixels = graph.node("Transpose", {pixels}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
  }
  if (backbone.input().type == TensorType::kHalf) pixels = graph.node("Cast", {pixels}, {{"to", kHalfTensor}});
  graph.node("Identity", {pixels}, {}, input);
}

// The pooling of Backbone, for an output that is not yet one row per image.
std::string add_pooling(OnnxModel& graph, const Embedding& embedding) {
  const Backbone& backbone = embedding.encoder.backbone;
  std::string output = embedding.network + backbone.output().name;
  if (backbone.output().type == TensorType::kHalf) output = graph.node("Cast", {output}, {{"to", kFloatTensor}});
  if (backbone.output_rank() == 4) {
    const std::vector<std::int64_t> positions =
        backbone.channels_last() ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{2, 3};
    output = graph.reduce("ReduceMean", output, positions, false);
  } else if (backbone.output_rank() == 3) {
    const std::string first = graph.node("Gather", {output, graph.integers(embedding.image + "class_token", {0})},
                                         {{"axis", std::int64_t{1}}});
    output =
        graph.node("Reshape", {first, graph.integers(embedding.image + "rows", {-1, extent_of(backbone.dimension())})});
  }
  return output;
}

void check_joinable(std::span<const ExportedEncoder> encoders) {
  for (const ExportedEncoder& encoder : encoders) {
    if (geometry_of(encoder.recipe) == geometry_of(encoders.front().recipe)) continue;
    fail_field(
        ErrorKind::kInput, "preprocess",
        "expected networks that take images of the same size and crop in one ONNX file, found {1} for {2} and {3} "
        "for {4}: train with one {0} for both, or export the head alone",
        to_text(geometry_of(encoders.front().recipe)), encoders.front().name, to_text(geometry_of(encoder.recipe)),
        encoder.name);
  }
}

void check_embeddable(const Backbone& backbone, const OnnxGraph& graph, const std::string& input) {
  const std::string file = backbone.file().string();
  if (backbone.output_rank() == 3 && backbone.tokens() == TokenPooling::kMean) {
    fail(ErrorKind::kInput, "{}: a mean of patch tokens cannot be exported: export the head alone", file);
  }
  if (const auto own = graph.opsets.find(""); own != graph.opsets.end() && own->second < kOldestOpset) {
    fail(ErrorKind::kInput,
         "{}: expected a network of ONNX's operator set {} or newer, found {}: export the head alone", file,
         kOldestOpset, own->second);
  }
  if (std::find(graph.inputs.begin(), graph.inputs.end(), input) == graph.inputs.end()) {
    fail(ErrorKind::kFormat, "{}: expected the input \"{}\" that ONNX Runtime tells of, found none", file,
         backbone.input().name);
  }
}

// A batch size that a file fixes stays fixed; -1: any.
std::int64_t batch_of(std::span<const ExportedEncoder> encoders, bool mirrored) {
  std::int64_t batch = -1;
  for (const ExportedEncoder& encoder : encoders) {
    if (encoder.backbone.input().shape.front() <= 0) continue;
    const std::int64_t own = extent_of(encoder.backbone.batch());
    if (mirrored || (batch > 0 && batch != own)) {
      fail(ErrorKind::kInput, "{}: it takes {} images at a time, which does not fit {}: export the head alone",
           encoder.backbone.file().string(), own, mirrored ? "mirror images" : "the other network");
    }
    batch = own;
  }
  return batch;
}

}  // namespace

PreprocessRecipe geometry_of(PreprocessRecipe recipe) {
  recipe.scaling = ValueScaling::kUnit;
  recipe.mean = {};
  recipe.std = {1, 1, 1};
  recipe.channels = ChannelOrder::kRgb;
  recipe.layout = ChannelLayout::kNchw;
  return recipe;
}

OnnxModel image_graph(const Model& model, std::span<const ExportedEncoder> encoders,
                      std::span<const std::span<const std::byte>> files, bool mirrored) {
  check_joinable(encoders);
  std::size_t dimension = 0;
  for (const ExportedEncoder& encoder : encoders) dimension += encoder.backbone.dimension();
  if (dimension != model.head.dimension()) {
    fail(ErrorKind::kInput, "{}: expected features of {} dimensions as the model was trained on, found {}",
         encoders.front().backbone.file().string(), model.head.dimension(), dimension);
  }
  const std::int64_t batch = batch_of(encoders, mirrored);
  const PreprocessRecipe& recipe = encoders.front().recipe;
  OnnxModel graph;
  graph.input(kImagesInput, {batch, 3, extent_of(recipe.output_height()), extent_of(recipe.output_width())});
  const std::string images = mirrored ? add_mirror_images(graph, recipe.output_width()) : kImagesInput;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    const std::string number = encoders.size() == 1 ? "" : std::to_string(i + 1);
    const Embedding embedding{encoders[i], "backbone" + number + "/", "image" + number + "/"};
    const Backbone& backbone = encoders[i].backbone;
    OnnxGraph inner = read_onnx_graph(files[i], embedding.network, backbone.file().string());
    const std::string input = embedding.network + backbone.input().name;
    check_embeddable(backbone, inner, input);
    add_network_input(graph, embedding, images, input);
    graph.embed(std::move(inner));
    std::string features = add_pooling(graph, embedding);
    if (mirrored) {
      const std::vector<std::string> views = graph.split(features, 2, 0);
      features = graph.node("Mul", {graph.node("Add", views), one_value(graph, embedding.image + "half", 0.5F)});
    }
    if (encoders.size() > 1) features = graph.node("Div", {features, graph.reduce("ReduceL2", features, {1}, true)});
    parts.push_back(std::move(features));
  }
  const std::string features = parts.size() == 1
                                   ? graph.node("Identity", parts, {}, kFeaturesOutput)
                                   : graph.node("Concat", parts, {{"axis", std::int64_t{1}}}, kFeaturesOutput);
  add_head(graph, model, features, batch);
  graph.output(kFeaturesOutput, {batch, extent_of(dimension)});
  return graph;
}

}  // namespace annulus
