// The predict server as its clients see it: answers, tokens, CORS, limits.
#include "server/predict_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "server/json_text.h"
#include "tests/server/running_server.h"

namespace annulus::server {
namespace {

using Json = nlohmann::json;

// What the library says of a row of the small set, as the server must write it.
std::string expected_answer(std::size_t row, std::size_t top, double share) {
  Matrix<float> block(1, kDimension);
  small_set().copy_rows(row, block.view());
  const ServedModel served("small", "", small_model(), nullptr);
  std::string text;
  write_answer(served, served.recogniser(false, false).answer(std::as_const(block).view()).front(), top, share, text);
  return text;
}

TEST(PredictServer, AnswersFeaturesAsTheLibraryDoes) {
  RunningServer running;
  RawClient client(running.port());
  const RawAnswer answer = client.ask("POST", "/predict?top=3", features_body(4, 2), json_header());
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, "[" + expected_answer(4, 3, kFalseReject) + "," + expected_answer(5, 3, kFalseReject) + "]\n");
  const Json all =
      Json::parse(client.ask("POST", "/predict?top=100&false_reject=0", features_body(7), json_header()).body);
  EXPECT_EQ(all[0].size(), 6U);
  EXPECT_FALSE(all[0][0].contains("unknown"));
  EXPECT_EQ(answer.value("Annulus-Model").substr(0, 15), "small; version=");
}

TEST(PredictServer, ExplainsAndRefuses) {
  RunningServer running;
  RawClient client(running.port());
  const Json known = Json::parse(client.ask("POST", "/predict?explain=1", features_body(0), json_header()).body)[0][0];
  EXPECT_EQ(known["unknown"], false);
  EXPECT_EQ(known["label"], known["best"]);
  EXPECT_EQ(known["explain"]["nearest"].size(), 3U);
  EXPECT_TRUE(known["explain"].contains("runner_up"));
  const std::string stranger = R"({"features": [9,-9,9,-9,9,-9,9,-9,9,-9,9,-9,9,-9,9,-9]})";
  const Json refused = Json::parse(client.ask("POST", "/predict?false_reject=0.9", stranger, json_header()).body)[0];
  EXPECT_EQ(refused["unknown"], true);
  EXPECT_EQ(refused["label"], "unknown");
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
  const RawAnswer answer = client.ask("POST", "/predict?model=second", features_body(0), json_header());
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
  const RawAnswer missing = client.ask("GET", "/../../etc/passwd");
  EXPECT_EQ(missing.status, 400);
  EXPECT_EQ(client.ask("GET", "/share/openapi.json").status, 404);
  EXPECT_EQ(client.ask("DELETE", "/predict").status, 405);
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
      const RawAnswer answer = client.ask(route.method, route.pattern, "", {header});
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

TEST(PredictServer, AnswersOfTooManyNumbersAreRefused) {
  ServeOptions options;
  options.max_answer_numbers = 23;
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
    EXPECT_EQ(client.ask("OPTIONS", "/predict", "", preflight).status, 405);
    EXPECT_EQ(client.ask("GET", "/v2", "", preflight).value("Access-Control-Allow-Origin"), "");
  }
  ServeOptions options;
  options.cors_origin = "http://pages.example";
  options.token = "a token of some length";
  RunningServer running(options);
  RawClient client(running.port());
  const RawAnswer allowed = client.ask("OPTIONS", "/predict", "", preflight);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.value("Access-Control-Allow-Origin"), "http://pages.example");
  const RawAnswer other =
      client.ask("OPTIONS", "/predict", "", {"Origin: http://other.example", "Access-Control-Request-Method: POST"});
  EXPECT_EQ(other.status, 401);
  EXPECT_EQ(other.value("Access-Control-Allow-Origin"), "");
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

}  // namespace
}  // namespace annulus::server
