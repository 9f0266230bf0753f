// TensorFlow.js models that are broken or use what is not supported are rejected in words; the good ones are compared
// with PyTorch in tests/pipeline/import_backbone_test.cpp.
#include "annulus/vision/import/tfjs_import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using Json = nlohmann::json;

std::string contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Model {
  Json json;
  std::vector<std::string> shards;
};

Model fixture(const std::string& name) {
  const auto folder = std::filesystem::path(ANNULUS_TEST_DATA) / "import" / name;
  Model model{Json::parse(contents(folder / "model.json")), {}};
  for (const auto& shard : tfjs_shards(model.json.dump(), name)) model.shards.push_back(contents(folder / shard));
  return model;
}

// Imports and writes; the bytes written, or the message of the error.
std::string outcome(const std::string& json, const std::vector<std::string>& shards) {
  std::vector<std::span<const std::byte>> views;
  for (const std::string& shard : shards) views.push_back(std::as_bytes(std::span(shard)));
  try {
    const TfjsImport result = import_tfjs_model(json, views, nullptr, "model.json", 0);
    std::size_t written = 0;
    result.model.write([&](std::span<const std::byte> bytes) { written += bytes.size(); });
    return "wrote " + std::to_string(written);
  } catch (const Error& error) {
    return error.what();
  }
}
std::string outcome(const Model& model) { return outcome(model.json.dump(), model.shards); }

Json& layer(Model& model, const std::string& name) {
  for (Json& found : model.json["modelTopology"]["model_config"]["config"]["layers"]) {
    if (found["name"] == name) return found;
  }
  throw std::logic_error("no layer " + name);
}

Json& node(Model& model, const std::string& name) {
  for (Json& found : model.json["modelTopology"]["node"]) {
    if (found["name"] == name) return found;
  }
  throw std::logic_error("no node " + name);
}

TEST(TfjsImport, UsesEveryWeight) {
  for (const char* name : {"tfjs_layers", "tfjs_graph"}) {
    const Model model = fixture(name);
    std::vector<std::span<const std::byte>> views;
    for (const std::string& shard : model.shards) views.push_back(std::as_bytes(std::span(shard)));
    const TfjsImport result = import_tfjs_model(model.json.dump(), views, nullptr, name, 0);
    EXPECT_EQ(result.used, model.json["weightsManifest"][0]["weights"].size()) << name;
    EXPECT_TRUE(result.dropped.empty()) << name;
    EXPECT_EQ(outcome(model).substr(0, 5), "wrote");
  }
}

TEST(TfjsImport, UnsupportedLayersAreNamed) {
  Model model = fixture("tfjs_layers");
  layer(model, "active_1")["class_name"] = "Lambda";
  EXPECT_NE(outcome(model).find("\"active_1\" is of the unsupported kind Lambda"), std::string::npos);
  model = fixture("tfjs_layers");
  layer(model, "active_1")["config"]["activation"] = "swish";
  EXPECT_NE(outcome(model).find("\"swish\" is not supported"), std::string::npos);
  model = fixture("tfjs_layers");
  layer(model, "conv_2")["config"]["data_format"] = "channels_first";
  EXPECT_NE(outcome(model).find("\"conv_2\" is not channels last"), std::string::npos);
  model = fixture("tfjs_graph");
  node(model, "second_relu")["op"] = "Elu";
  EXPECT_NE(outcome(model).find("unsupported kind Elu"), std::string::npos);
}

TEST(TfjsImport, BrokenGraphsAreRejected) {
  Model model = fixture("tfjs_layers");
  layer(model, "conv_2")["inbound_nodes"][0][0][0] = "active_2";
  EXPECT_NE(outcome(model).find("used before it is defined"), std::string::npos);
  model = fixture("tfjs_layers");
  layer(model, "pool_1")["config"]["pool_size"] = {99, 99};
  EXPECT_NE(outcome(model).find("does not fit"), std::string::npos);
  model = fixture("tfjs_layers");
  layer(model, "pool_1")["config"]["strides"] = {0, 0};
  EXPECT_NE(outcome(model).find("makes no sense"), std::string::npos);
  model = fixture("tfjs_graph");
  node(model, "scaled")["input"][1] = "logits";
  EXPECT_NE(outcome(model).find("no output"), std::string::npos);
  model = fixture("tfjs_graph");
  node(model, "scaled")["input"][1] = "first";
  EXPECT_NE(outcome(model).find("depends on itself"), std::string::npos);
  model = fixture("tfjs_graph");
  node(model, "scaled")["input"][1] = "nowhere";
  EXPECT_NE(outcome(model).find("\"nowhere\", which does not exist"), std::string::npos);
  model = fixture("tfjs_graph");
  node(model, "first")["input"][0] = "images";
  EXPECT_NE(outcome(model).find("expected one output"), std::string::npos);
}

TEST(TfjsImport, ManifestAndShardsMustAgree) {
  Model model = fixture("tfjs_layers");
  model.shards.back().pop_back();
  EXPECT_NE(outcome(model).find("bytes left in its shards"), std::string::npos);
  model = fixture("tfjs_layers");
  model.json["weightsManifest"][0]["weights"][0]["shape"] = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_NE(outcome(model).find("too large"), std::string::npos);
  model = fixture("tfjs_layers");
  model.json["weightsManifest"][0]["weights"][0]["shape"] = {5, 5, 6, 3};
  EXPECT_NE(outcome(model).find("does not fit 3 channels"), std::string::npos);
  model = fixture("tfjs_layers");
  model.json["weightsManifest"][0]["weights"][0]["name"] = "other";
  EXPECT_NE(outcome(model).find("expected a weight"), std::string::npos);
  model = fixture("tfjs_layers");
  model.json["weightsManifest"][0]["paths"][0] = "../../etc/passwd";
  EXPECT_NE(outcome(model).find("without folders"), std::string::npos);
}

TEST(TfjsImport, OtherTextIsRejected) {
  EXPECT_NE(outcome("{", {}).find("expected a TensorFlow.js model.json"), std::string::npos);
  EXPECT_NE(outcome("{}", {}).find("expected a TensorFlow.js model.json"), std::string::npos);
  EXPECT_NE(outcome(R"({"weightsManifest": [], "modelTopology": 3})", {}).find("expected a TensorFlow.js model.json"),
            std::string::npos);
  EXPECT_NE(outcome(std::string(100000, '['), {}).find("expected a TensorFlow.js model.json"), std::string::npos);
}

}  // namespace
}  // namespace annulus
