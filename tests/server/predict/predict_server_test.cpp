// The predict server as its clients see it: answers, tokens, CORS, limits.
#include "server/predict/predict_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/fixtures/running_server.h"

namespace annulus::server {
namespace {

using Json = nlohmann::json;

// What the library predicts for a row of the small set, as the server must write it as number `number` of a request.
std::string expected_answer(std::size_t row, std::size_t number, std::size_t top, double fraction) {
  Matrix<float> block(1, kDimension);
  small_set().copy_rows(row, block.view());
  const ServedModel served("small", "", small_model(), nullptr);
  std::string text;
  served.write_json(served.predictor(false, false).predict(std::as_const(block).view()).front(), number, top, fraction,
                    text);
  return text;
}

TEST(PredictServer, AnswersFeaturesAsTheLibraryDoes) {
  RunningServer running;
  RawClient client(running.port());
  const RawResponse answer = client.ask("POST", "/predict?top=3", features_body(4, 2), json_header());
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body,
            "[" + expected_answer(4, 0, 3, kFalseReject) + "," + expected_answer(5, 1, 3, kFalseReject) + "]\n");
  const Json all =
      Json::parse(client.ask("POST", "/predict?top=100&false_reject=0", features_body(7), json_header()).body);
  EXPECT_EQ(all[0]["top"].size(), 6U);
  EXPECT_FALSE(all[0].contains("unknown"));
  EXPECT_EQ(answer.value("Annulus-Model").substr(0, 15), "small; version=");
}

TEST(PredictServer, ExplainsAndRejects) {
  RunningServer running;
  RawClient client(running.port());
  const Json known = Json::parse(client.ask("POST", "/predict?explain=1", features_body(0), json_header()).body)[0];
  EXPECT_EQ(known["unknown"], false);
  EXPECT_EQ(known["label"], known["best"]);
  EXPECT_EQ(known["explain"]["nearest"].size(), 3U);
  EXPECT_TRUE(known["explain"].contains("runner_up"));
  const std::string unknown_input = R"({"features": [9,-9,9,-9,9,-9,9,-9,9,-9,9,-9,9,-9,9,-9]})";
  const Json rejected = Json::parse(client.ask("POST", "/predict?false_reject=0.9", unknown_input, json_header()).body);
  EXPECT_EQ(rejected["unknown"], true);
  EXPECT_EQ(rejected["label"], "unknown");
}

// Fields of the library are named as keys of JSON.
TEST(PredictServer, NamesTheKeyOfAWrongValue) {
  RunningServer running;
  RawClient client(running.port());
  const std::string sentence = "expected \"false_reject\" to be a rate from 0 to less than 1, found 1.5";
  for (const char* path : {"/predict?false_reject=1.5", "/predict"}) {
    const std::string body = std::string(path).find('?') == std::string::npos
                                 ? R"({"features": [1], "false_reject": 1.5})"
                                 : features_body(4);
    const auto answer = client.ask("POST", path, body, json_header());
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(Json::parse(answer.body)["error"], sentence);
  }
  const auto top = client.ask("POST", "/predict?top=0", features_body(4), json_header());
  EXPECT_EQ(Json::parse(top.body)["error"], "expected \"top\" to be from 1 to 1000000, found 0");
}

TEST(PredictServer, InfersTensors) {
  RunningServer running;
  RawClient client(running.port());
  const Json metadata = Json::parse(client.ask("GET", "/v2/models/small").body);
  EXPECT_EQ(metadata["inputs"][0]["shape"], Json({-1, kDimension}));
  Matrix<float> block(2, kDimension);
  small_set().copy_rows(3, block.view());
  Json data = Json::array();
  for (std::size_t i = 0; i < 2; ++i) {
    for (const float number : block.row(i)) data.push_back(number);
  }
  const Json request{{"id", "seven"},
                     {"inputs", {{{"name", "X"}, {"datatype", "FP32"}, {"shape", {2, kDimension}}, {"data", data}}}}};
  const std::string version = metadata["versions"][0];
  for (const std::string& path :
       {std::string("/v2/models/small/infer"), "/v2/models/small/versions/" + version + "/infer"}) {
    const Json answer = Json::parse(client.ask("POST", path, request.dump(), json_header()).body);
    EXPECT_EQ(answer["id"], "seven");
    EXPECT_EQ(answer["model_version"], version);
    ASSERT_EQ(answer["outputs"].size(), 4U);
    const std::vector<float> probabilities = answer["outputs"][1]["data"];
    ASSERT_EQ(probabilities.size(), 12U);
    Matrix<float> expected(2, 6);
    const Model model = small_model();
    PreparedHead(model.head).logits(std::as_const(block).view(), expected.view(), 1);
    to_probabilities(expected.view(), model.temperature);
    for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(probabilities[j], expected(j / 6, j % 6));
  }
  EXPECT_EQ(client.ask("POST", "/v2/models/small/versions/other/infer", request.dump(), json_header()).status, 404);
  EXPECT_EQ(client.ask("GET", "/v2/models/none").status, 404);
}

TEST(PredictServer, ServesSeveralModels) {
  RunningServer running({}, {"second"});
  RawClient client(running.port());
  const Json index = Json::parse(client.ask("POST", "/v2/repository/index").body);
  ASSERT_EQ(index.size(), 2U);
  EXPECT_EQ(index[1]["name"], "second");
  const RawResponse answer = client.ask("POST", "/predict?model=second", features_body(0), json_header());
  EXPECT_TRUE(answer.value("Annulus-Model").starts_with("second; "));
  EXPECT_EQ(client.ask("POST", "/predict?model=third", features_body(0), json_header()).status, 404);
}

TEST(PredictServer, SaysWhatIsWrong) {
  RunningServer running;
  RawClient client(running.port());
  EXPECT_EQ(client.ask("POST", "/predict", R"({"features": [1, 2]})", json_header()).status, 422);
  EXPECT_EQ(client.ask("POST", "/predict", R"({"features": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]})", json_header()).status,
            422);
  EXPECT_EQ(client.ask("POST", "/predict", "{", json_header()).status, 400);
  EXPECT_EQ(client.ask("POST", "/predict", "not an image", {"Content-Type: image/png"}).status, 422);
  EXPECT_EQ(client.ask("POST", "/embed", features_body(0), json_header()).status, 422);
  const RawResponse missing = client.ask("GET", "/../../etc/passwd");
  EXPECT_EQ(missing.status, 400);
  RawClient next(running.port());  // what is wrong with a request's head ends its connection
  EXPECT_EQ(next.ask("GET", "/share/openapi.json").status, 404);
  EXPECT_EQ(next.ask("DELETE", "/predict").status, 405);
}

TEST(PredictServer, NothingButLifeIsReadableWithoutTheToken) {
  ServeOptions options;
  options.token = "a token of some length";
  RunningServer running(options);
  RawClient client(running.port());
  EXPECT_EQ(client.ask("GET", "/v2/health/live").status, 200);
  for (const Router::Route& route : running.server().router().routes()) {
    if (route.pattern == "/v2/health/live") continue;
    for (const char* header :
         {"X: y", "Authorization: Bearer", "Authorization: Bearer wrong", "Authorization: Basic a",
          "Authorization: Bearer a token of some lengt", "Authorization: a token of some length"}) {
      const RawResponse answer = client.ask(route.method, route.pattern, "", {header});
      EXPECT_EQ(answer.status, 401) << route.pattern << " " << header;
      EXPECT_EQ(answer.value("WWW-Authenticate"), "Bearer");
    }
  }
  EXPECT_EQ(client.ask("GET", "/nothing").status, 401);
  EXPECT_EQ(client.ask("POST", "/v2/health/live").status, 401);
  const std::vector<std::string> right{"Authorization: Bearer a token of some length"};
  EXPECT_EQ(client.ask("GET", "/v2", "", right).status, 200);
  EXPECT_EQ(client.ask("GET", "/metrics", "", right).status, 200);
  EXPECT_NE(client.ask("GET", "/metrics", "", right).body.find("annulus_rejected_total{reason=\"token\"}"),
            std::string::npos);
}

TEST(PredictServer, NoBodyIsReadWithoutTheToken) {
  ServeOptions options;
  options.token = "a token of some length";
  options.http.max_waiting_bytes = 100;
  RunningServer running(options);
  const std::string large = "Host: localhost\r\nContent-Length: 30000000\r\n";
  for (const char* begin : {"POST /predict HTTP/1.1\r\n", "POST /predict HTTP/1.1\r\nAuthorization: Bearer wrong\r\n",
                            "POST /predict HTTP/1.1\r\nExpect: 100-continue\r\n", "GET /v2/health/live HTTP/1.1\r\n"}) {
    RawClient client(running.port());
    client.send(begin + large + "\r\n" + std::string(1000, 'x'));
    EXPECT_EQ(client.read().status, 401) << begin;
  }
  RawClient client(running.port());
  client.send("POST /predict HTTP/1.1\r\nExpect: 100-continue\r\nAuthorization: Bearer a token of some length\r\n" +
              large + "\r\n");
  EXPECT_EQ(client.read().status, 100);
  EXPECT_EQ(running.count("request"), 4U);
}

TEST(PredictServer, AnswersOfTooManyNumbersAreRejected) {
  ServeOptions options;
  options.max_response_numbers = 23;
  RunningServer running(options);
  RawClient client(running.port());
  const auto status = [&](const std::string& path, const std::string& body) {
    return client.ask("POST", path, body, json_header()).status;
  };
  // Six classes.
  EXPECT_EQ(status("/predict?top=5", features_body(0, 4)), 200);
  EXPECT_EQ(status("/predict?top=5", features_body(0, 5)), 422);
  EXPECT_EQ(status("/predict?top=6", features_body(0, 4)), 422);
  EXPECT_EQ(status("/predict?top=1000000", features_body(0, 3)), 200);
  EXPECT_EQ(status("/predict?top=1000000", features_body(0, 4)), 422);
  EXPECT_EQ(status("/predict?top=1", features_body(0, 23)), 200);
  const auto tensors = [](std::size_t rows, const char* outputs) {
    const Json data = Json::parse(features_body(0, rows))["features"];
    return Json{{"inputs", {{{"name", "X"}, {"datatype", "FP32"}, {"shape", {rows, kDimension}}, {"data", data}}}},
                {"outputs", Json::parse(outputs)}}
        .dump();
  };
  EXPECT_EQ(status("/v2/models/small/infer", tensors(3, "[]")), 200);
  EXPECT_EQ(status("/v2/models/small/infer", tensors(4, "[]")), 422);
  EXPECT_EQ(status("/v2/models/small/infer", tensors(4, R"([{"name": "probabilities"}])")), 422);
  EXPECT_EQ(status("/v2/models/small/infer", tensors(4, R"([{"name": "label"}])")), 200);
}

TEST(PredictServer, CorsIsClosedUnlessAnOriginIsNamed) {
  const std::vector<std::string> preflight{"Origin: http://pages.example", "Access-Control-Request-Method: POST"};
  {
    RunningServer running;
    RawClient client(running.port());
    EXPECT_EQ(client.ask("OPTIONS", "/predict", "", preflight).status, 403);
    EXPECT_EQ(client.ask("GET", "/v2", "", preflight).value("Access-Control-Allow-Origin"), "");
    // As a page sends it that does not want to read the response.
    for (const char* header : {"Origin: http://pages.example", "Sec-Fetch-Site: cross-site", "Origin: null"}) {
      EXPECT_EQ(client.ask("POST", "/v2/repository/models/small/load", "", {header}).status, 403) << header;
    }
    EXPECT_EQ(running.count("model loaded"), 0U);
    EXPECT_NE(client.ask("GET", "/metrics").body.find("annulus_rejected_total{reason=\"origin\"} 5"),
              std::string::npos);
  }
  ServeOptions options;
  options.cors_origins = {"http://more.example", "http://pages.example"};
  options.token = "a token of some length";
  RunningServer running(options);
  RawClient client(running.port());
  const RawResponse allowed = client.ask("OPTIONS", "/predict", "", preflight);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.value("Access-Control-Allow-Origin"), "http://pages.example");
  const RawResponse other =
      client.ask("OPTIONS", "/predict", "", {"Origin: http://other.example", "Access-Control-Request-Method: POST"});
  EXPECT_EQ(other.status, 403);
  EXPECT_EQ(other.value("Access-Control-Allow-Origin"), "");
}

TEST(PredictServer, WeightsThatOverflowAreAnErrorAndNotBrokenJson) {
  Model model = small_model();
  ASSERT_FALSE(model.head.gain.empty());
  for (float& gain : model.head.gain) gain = 3e38F;  // finite, as a model file may have it; times 10 it is not
  RunningServer running({}, {}, model);
  RawClient client(running.port());
  const RawResponse plain = client.ask("POST", "/predict", features_body(0), json_header());
  EXPECT_EQ(plain.status, 422) << plain.body;
  EXPECT_NE(nlohmann::json::parse(plain.body)["error"].get<std::string>().find("no finite"), std::string::npos);
}

TEST(PredictServer, CountsWhatItDoes) {
  RunningServer running;
  RawClient client(running.port());
  client.ask("POST", "/predict", features_body(0, 3), json_header());
  client.ask("GET", "/nothing");
  const std::string text = client.ask("GET", "/metrics").body;
  for (const char* line :
       {"annulus_requests_total{route=\"/predict\",status=\"200\"} 1\n",
        "annulus_requests_total{route=\"other\",status=\"404\"} 1\n",
        "annulus_request_seconds_count{route=\"/predict\"} 1\n", "annulus_batch_rows_sum 3\n",
        "annulus_predictions_total{model=\"small\"} 3\n", "annulus_margin_count{model=\"small\"} 3\n",
        "annulus_queue_rows 0\n", "annulus_unknown_total{model=\"small\"} "}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(PredictServer, SpeaksWithLabelStudio) {
  RunningServer running;
  RawClient client(running.port());
  EXPECT_EQ(Json::parse(client.ask("GET", "/health").body)["status"], "UP");
  EXPECT_EQ(
      Json::parse(client.ask("POST", "/setup", "{}", json_header()).body)["model_version"].get<std::string>().size(),
      12U);
  EXPECT_EQ(client.ask("POST", "/webhook", "{}", json_header()).status, 200);
  EXPECT_EQ(Json::parse(client.ask("POST", "/predict", R"({"tasks": []})", json_header()).body)["results"].size(), 0U);
  // This model has no backbone.
  EXPECT_EQ(
      client.ask("POST", "/predict", R"({"tasks": [{"data": {"i": "data:image/png;base64,YWJj"}}]})", json_header())
          .status,
      422);
}

TEST(PredictServer, IsNotReadyWhileAModelOfImagesHasNoBackbone) {
  Model model = small_model();
  model.provenance["backbone"] = "lost.onnx";
  const auto status_of = [&](const ServeOptions& options, const std::string& path) {
    RunningServer server(options, {"other"}, model);
    RawClient client(server.port());
    return client.ask("GET", path).status;
  };
  EXPECT_EQ(status_of({}, "/v2/health/ready"), 503);
  EXPECT_EQ(status_of({}, "/v2/models/small/ready"), 503);
  EXPECT_EQ(status_of({}, "/v2/models/other/ready"), 200);
  EXPECT_EQ(status_of({}, "/v2/health/live"), 200);
  ServeOptions features_only;
  features_only.features_only = true;
  EXPECT_EQ(status_of(features_only, "/v2/health/ready"), 200);
}

}  // namespace
}  // namespace annulus::server
