// The description of the endpoints (share/openapi.json) beside what the server does: paths, statuses, forms of answers.
#include "server/predict/openapi.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "annulus/base/base64.h"
#include "annulus/pipeline/encode.h"
#include "annulus/store/images/image_file.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/running_server.h"

namespace annulus::server {
namespace {

using Json = nlohmann::json;

const Json& description() {
  static const Json document = Json::parse(kOpenApiText);
  return document;
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

// Where a value is not as its schema says, and how; empty when it is. Properties that the schema does not name are a
// fault where it names any.
std::string misfit(const Json& value, const Json& schema, const std::string& at = "answer") {
  if (schema.contains("$ref")) {
    return misfit(value, description().at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), at);
  }
  if (schema.contains("oneOf")) {
    std::size_t fitting = 0;
    std::string reasons;
    for (const Json& form : schema["oneOf"]) {
      const std::string reason = misfit(value, form, at);
      fitting += reason.empty() ? 1U : 0U;
      reasons += reason + "; ";
    }
    return fitting == 1 ? "" : fmt::format("{}: fits {} of the forms: {}", at, fitting, reasons);
  }
  if (schema.contains("type") && !has_type(value, schema["type"])) {
    return fmt::format("{}: expected {}, found {}", at, schema["type"].dump(), value.dump());
  }
  if (schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
    return fmt::format("{}: expected one of {}, found {}", at, schema["enum"].dump(), value.dump());
  }
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>())) return fmt::format("{}: expected {}", at, name.dump());
  }
  if (schema.contains("properties")) {
    for (const auto& [name, property] : value.items()) {
      if (!schema["properties"].contains(name)) return fmt::format("{}: did not expect \"{}\"", at, name);
      const std::string reason = misfit(property, schema["properties"][name], at + "." + name);
      if (!reason.empty()) return reason;
    }
  }
  if (schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string reason = misfit(value[i], schema["items"], fmt::format("{}[{}]", at, i));
      if (!reason.empty()) return reason;
    }
  }
  return {};
}

// An answer beside what the description says of its status.
void expect_described(const Json& operation, const RawResponse& answer, const std::string& asked) {
  const std::string status = std::to_string(answer.status);
  ASSERT_TRUE(operation["responses"].contains(status)) << asked << " " << status << " " << answer.body;
  const std::string type = answer.value("Content-Type");
  const Json& content = operation["responses"][status]["content"];
  const std::string name = type.substr(0, type.find(';'));
  ASSERT_TRUE(content.contains(name)) << asked << " " << type;
  if (name == "application/json") {
    EXPECT_EQ(misfit(Json::parse(answer.body), content[name]["schema"]), "") << asked << " " << answer.body;
  }
}

std::string tensors_body(std::size_t rows) {
  const Json data = Json::parse(features_body(0, rows))["features"];
  return Json{{"id", "seven"},
              {"inputs", {{{"name", "X"}, {"datatype", "FP32"}, {"shape", {rows, kDimension}}, {"data", data}}}}}
      .dump();
}

// Bodies that an operation can answer.
std::vector<std::string> good_bodies(const std::string& path) {
  if (path == "/predict") {
    Json one = Json::parse(features_body(0));
    one["features"] = one["features"][0];
    one["explain"] = true;
    return {one.dump(), features_body(0), features_body(0, 3), R"({"tasks": []})"};
  }
  if (path.ends_with("/infer")) return {tensors_body(1), tensors_body(2)};
  return {"{}"};
}

std::string with_names(std::string path, const std::string& version) {
  const auto put = [&path](const std::string& name, const std::string& value) {
    const auto at = path.find(name);
    if (at != std::string::npos) path.replace(at, name.size(), value);
  };
  put("{model}", "small");
  put("{version}", version);
  return path;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

TEST(OpenApi, TheCheckerFindsFaults) {
  const Json schema = Json::parse(R"({"type": "object", "required": ["a"], "properties": {
      "a": {"type": "array", "items": {"type": "number"}}, "b": {"$ref": "#/components/schemas/Error"},
      "c": {"oneOf": [{"type": "string"}, {"type": "integer"}]}, "d": {"enum": ["x"]}}})");
  EXPECT_EQ(misfit(Json::parse(R"({"a": [1, 2.5], "b": {"error": "e"}, "c": 7, "d": "x"})"), schema), "");
  for (const char* bad :
       {R"([])", R"({})", R"({"a": 1})", R"({"a": ["x"]})", R"({"a": [], "b": {}})", R"({"a": [], "b": {"error": 1}})",
        R"({"a": [], "c": true})", R"({"a": [], "d": "y"})", R"({"a": [], "unheard": 1})"}) {
    EXPECT_NE(misfit(Json::parse(bad), schema), "") << bad;
  }
}

TEST(OpenApi, SaysWhatTheServerDoes) {
  RunningServer running;
  RawClient client(running.port());
  EXPECT_EQ(Json::parse(client.ask("GET", "/openapi.json").body), description());
  const std::string version = Json::parse(client.ask("GET", "/v2/models/small").body)["versions"][0];
  std::size_t operations = 0;
  for (const auto& [path, methods] : description()["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      ++operations;
      const std::string sent = method == "get" ? "GET" : "POST";
      const std::string target = with_names(path, version);
      for (const std::string& body : good_bodies(path)) {
        const RawResponse answer = client.ask(sent, target, sent == "POST" ? body : "", json_header());
        // The model of this server has no backbone.
        const bool images_alone = path == "/embed" || path == "/api/v1/vision/labels";
        EXPECT_EQ(answer.status, images_alone ? 422 : 200) << target << " " << answer.body;
        expect_described(operation, answer, sent + " " + target);
      }
      const std::string nonsense = sent == "POST" ? R"({"features": 7})" : "";
      expect_described(operation, client.ask(sent, target, nonsense, json_header()), target + " with nonsense");
    }
  }
  EXPECT_EQ(operations, running.server().router().routes().size());
  for (const Router::Route& route : running.server().router().routes()) {
    EXPECT_TRUE(description()["paths"].contains(route.pattern) &&
                description()["paths"][route.pattern].contains(lower(route.method)))
        << route.method << " " << route.pattern;
  }
}

TEST(OpenApi, SaysWhatIsRejectedWithoutTheToken) {
  ServeOptions options;
  options.token = "a token of some length";
  RunningServer running(options);
  RawClient client(running.port());
  for (const auto& [path, methods] : description()["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      const std::string sent = method == "get" ? "GET" : "POST";
      expect_described(operation, client.ask(sent, with_names(path, "1"), "{}"), path + " without a token");
    }
  }
}

class OpenApiImages : public NeedsOnnxRuntime {};

TEST_F(OpenApiImages, AnswersToImagesAreAsDescribed) {
  ServeOptions options = image_options();
  options.max_response_numbers = 9;
  RunningServer running(options, {}, model_of_set(six_classes(5)));
  RawClient client(running.port());
  const std::string bytes = red_picture();
  for (const char* path : {"/embed", "/predict"}) {
    const RawResponse answer = client.ask("POST", path, bytes, {"Content-Type: image/png"});
    EXPECT_EQ(answer.status, 200) << path << " " << answer.body;
    expect_described(description()["paths"][path]["post"], answer, path);
  }
  const std::string vision = "/api/v1/vision/labels";
  const std::string photo = "data:image/png;base64," + base64_encoded(bytes);
  const RawResponse labels = client.ask("POST", vision, Json{{"id", "7"}, {"images", {photo}}}.dump(), json_header());
  EXPECT_EQ(labels.status, 200) << labels.body;
  expect_described(description()["paths"][vision]["post"], labels, vision);
  const std::string part = "--b\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\n" + bytes + "\r\n";
  const std::string two = part + part + "--b--\r\n";
  const std::vector<std::string> form{"Content-Type: multipart/form-data; boundary=b"};
  // 2 x 5 features are more than 9 numbers; 2 x 4 labels are not.
  EXPECT_EQ(client.ask("POST", "/embed", two, form).status, 422);
  EXPECT_EQ(client.ask("POST", "/predict?top=4", two, form).status, 200);
  const RawResponse metadata = client.ask("GET", "/v2/models/small");
  EXPECT_EQ(Json::parse(metadata.body)["inputs"].size(), 2U);
  expect_described(description()["paths"]["/v2/models/{model}"]["get"], metadata, "metadata");
}

// Bytes are told by their content, whatever type the request states.
TEST_F(OpenApiImages, EveryFormatIsPredictedAsByTheLibrary) {
  ServeOptions options;
  options.encoder.backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  options.encoder.preprocess = "unit resize=8x8 crop=none";
  const Encoder encoder = open_encoder(options.encoder, {});
  RunningServer running(options, {}, model_of_set(six_classes(5)));
  RawClient client(running.port());
  for (const char* const file : {"photos/smooth.heic", "photos/smooth.avif", "photos/lzw.tif", "photos/blocks.gif",
                                 "photos/boxes.jxl", "photos/preview.dng", "images/webp_lossy.webp"}) {
    const auto bytes = load_image_bytes(std::filesystem::path(ANNULUS_TEST_DATA) / file, std::size_t{1} << 20);
    const std::string body(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const RawResponse answer = client.ask("POST", "/embed", body, {"Content-Type: image/jpeg"});
    ASSERT_EQ(answer.status, 200) << file << " " << answer.body;
    const Json embedded = Json::parse(answer.body)["embeddings"];
    EXPECT_EQ(embedded.at(0).get<std::vector<float>>(), encode_image(bytes, file, encoder)) << file;
    EXPECT_EQ(client.ask("POST", "/predict", body, {"Content-Type: image/jpeg"}).status, 200) << file;
  }
}

}  // namespace
}  // namespace annulus::server
