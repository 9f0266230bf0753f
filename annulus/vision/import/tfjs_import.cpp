// Reads model.json and passes its topology to the builder of its kind.
#include "annulus/vision/import/tfjs_import.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/import/tfjs_builder.h"
#include "annulus/vision/import/tfjs_weights.h"

namespace annulus {
namespace {

using Json = nlohmann::json;

// Converts exceptions for missing or mistyped fields into one Error.
template <class Body>
auto reading(const std::string& source, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const Json::exception& problem) {
    fail(ErrorKind::kFormat, "{}: expected a TensorFlow.js model.json: {}", source, problem.what());
  } catch (const std::logic_error& problem) {
    fail(ErrorKind::kFormat, "{}: expected a TensorFlow.js model.json with numbers in {}", source, problem.what());
  }
}

bool contains_ignoring_case(const std::string& text, std::string_view part) {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace

std::vector<std::string> tfjs_shards(std::string_view model_json, const std::string& source) {
  return reading(source, [&] { return tfjs_shard_names(Json::parse(model_json).at("weightsManifest"), source); });
}

TfjsImport import_tfjs_model(std::string_view model_json, std::span<const std::span<const std::byte>> shards,
                             std::shared_ptr<const void> owner, const std::string& source, int image_size) {
  return reading(source, [&] {
    const Json json = Json::parse(model_json);
    const Json& manifest = json.at("weightsManifest");
    if (tfjs_shard_names(manifest, source).size() != shards.size()) {
      fail(ErrorKind::kFormat, "{}: expected {} shards of weights, found {}", source,
           tfjs_shard_names(manifest, source).size(), shards.size());
    }
    TfjsImport result;
    result.weights = std::make_shared<const TensorFile>(tfjs_weights(manifest, shards, std::move(owner), source));
    TfjsBuilder builder(*result.weights, result.model);
    const Json& topology = json.at("modelTopology");
    const bool is_graph = topology.contains("node");
    const TfjsGraph graph =
        is_graph ? build_tfjs_graph(topology, builder, image_size) : build_tfjs_layers(topology, builder, image_size);
    result.layout = is_graph ? "TensorFlow.js graph-model" : "TensorFlow.js layers-model " + graph.name;
    // Keras' own ResNet and VGG weights came from Caffe and expect its blue-green-red pixels; TensorFlow Hub's modules
    // take red-green-blue from 0 to 1.
    const bool caffe =
        !is_graph && (contains_ignoring_case(graph.name, "resnet50") || contains_ignoring_case(graph.name, "vgg"));
    result.preprocessing = caffe ? "keras-caffe" : "unit";
    result.image_size = graph.image_size;
    result.used = builder.used().size();
    for (const auto& [name, tensor] : result.weights->tensors()) {
      if (!builder.used().contains(name)) result.dropped.push_back(name);
    }
    return result;
  });
}

}  // namespace annulus
