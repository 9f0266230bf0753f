// The state, the map, findings, predictions and exports of a small project as the page gets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "annulus/base/clock.h"
#include "annulus/pipeline/export/web_files.h"
#include "tests/fixtures/asked_studio.h"
#include "tests/fixtures/fake_web_runtime.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/tiny_studio.h"

namespace annulus::server {
namespace {

using Json = nlohmann::json;
using studio::photo_of;

class StudioAnalysisTest : public NeedsOnnxRuntime {
 protected:
  static Json get(AskedStudio& studio, const std::string& path) {
    const Response response = studio.with_key("GET", path);
    EXPECT_EQ(response.status, 200) << path << response.body;
    return Json::parse(response.body);
  }
  static void upload(AskedStudio& studio, const std::string& name, const studio::Colour& colour, int photos = 4) {
    Json header = {{"class", name}, {"files", Json::array()}};
    std::string bytes;
    for (int number = 1; number <= photos; ++number) {
      const std::string photo = photo_of(colour, number);
      header["files"].push_back({"photo.webp", photo.size()});
      bytes += photo;
    }
    EXPECT_EQ(studio.with_key("POST", "/api/photos", header.dump() + "\n" + bytes).status, 200);
  }
  static Json trained(AskedStudio& studio) {
    Json state;
    for (const auto start = now(); seconds_since(start) < 60.0;) {
      state = get(studio, "/api/state");
      if (!state["model"].is_null() && state["model"]["current"] && state["analysis"]["current"]) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return state;
  }

  ScratchFolder scratch_;
};

TEST_F(StudioAnalysisTest, ThePageGetsWhatItShows) {
  AskedStudio studio(studio::write_tiny_backbone(scratch_));
  EXPECT_EQ(get(studio, "/api/map"), Json({{"classes", Json::array()}}));
  EXPECT_EQ(studio.with_key("GET", "/api/export/model").status, 422);
  upload(studio, "red", studio::kRed);
  upload(studio, "green", studio::kGreen);
  EXPECT_FALSE(get(studio, "/api/analysis").contains("findings"));  // from now on they are wanted
  const Json state = trained(studio);
  ASSERT_TRUE(state["analysis"]["current"].get<bool>()) << state;
  EXPECT_EQ(state["model"]["classes"], 2);
  EXPECT_EQ(state["model"]["can_predict"], true);
  EXPECT_EQ(state["model"]["held_out"], 8);
  EXPECT_TRUE(state["model"].contains("held_out_correct"));
  EXPECT_TRUE(state["model"]["incremental"].is_boolean());

  const Json map = get(studio, "/api/map");
  EXPECT_EQ(map["classes"], Json({"green", "red"}));
  EXPECT_EQ(map["counts"], Json({4, 4}));
  EXPECT_EQ(map["prototypes"]["x"].size(), 2U);
  EXPECT_EQ(map["photos"]["x"].size(), 8U);
  EXPECT_EQ(map["photos"]["id"].size(), 8U);
  EXPECT_EQ(map["photos"]["class"], Json({0, 0, 0, 0, 1, 1, 1, 1}));

  const Json analysis = get(studio, "/api/analysis");
  EXPECT_EQ(analysis["current"], true);
  EXPECT_EQ(analysis["recognised"], 100.0);
  EXPECT_TRUE(analysis["findings"].is_array());
  EXPECT_TRUE(analysis["confused"].empty());

  const Response answer = studio.with_key("POST", "/api/predict", photo_of(studio::kGreen, 50));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json predicted = Json::parse(answer.body);
  const Json& prediction = predicted["prediction"];
  EXPECT_EQ(prediction["label"], prediction.value("unknown", false) ? "unknown" : "green");
  EXPECT_EQ(prediction["top"][0]["label"], "green");
  EXPECT_EQ(prediction["top"][0]["probability"], prediction["probability"]);
  EXPECT_EQ(prediction["top"].size(), 2U);
  ASSERT_EQ(prediction["explain"]["nearest"].size(), 3U);
  EXPECT_EQ(prediction["explain"]["nearest"][0]["label"], "green");
  EXPECT_EQ(predicted["model"], state["model"]["number"]);
}

TEST_F(StudioAnalysisTest, ExportsAreFilesToSave) {
  AskedStudio studio(studio::write_tiny_backbone(scratch_));
  upload(studio, "red", studio::kRed);
  upload(studio, "green", studio::kGreen);
  get(studio, "/api/analysis");
  trained(studio);
  const FakeWebRuntime runtime(scratch_);
  const auto size = get(studio, "/api/web-page");
  EXPECT_EQ(size["files"], web_files().size() + 6);
  EXPECT_GT(size["bytes"], size["model_bytes"]);
  for (const auto& [what, type, name] : {std::tuple("model", "application/octet-stream", "project.safetensors"),
                                         std::tuple("onnx", "application/octet-stream", "project.onnx"),
                                         std::tuple("card", "text/markdown", "project-card.md"),
                                         std::tuple("report", "text/html", "project-report.html"),
                                         std::tuple("web", "application/zip", "project-page.zip")}) {
    const Response response = studio.with_key("GET", std::string("/api/export/") + what);
    EXPECT_EQ(response.status, 200) << what << response.body;
    EXPECT_TRUE(response.content_type.starts_with(type)) << what;
    ASSERT_EQ(response.headers.size(), 1U);
    EXPECT_EQ(response.headers[0].first, "Content-Disposition");
    EXPECT_EQ(response.headers[0].second,
              std::string("attachment; filename=\"") + name + "\"; filename*=UTF-8''" + name);
    EXPECT_FALSE(response.body.empty());
  }
  EXPECT_EQ(studio.with_key("GET", "/api/export/nothing").status, 400);
  // Names in any script.
  const Json renamed = {{"name", "project"}, {"to", "V\u00f6gel \"2\""}};
  ASSERT_EQ(studio.with_key("POST", "/api/projects/rename", renamed.dump()).status, 200);
  trained(studio);
  EXPECT_EQ(studio.with_key("GET", "/api/export/model").headers[0].second,
            "attachment; filename=\"V__gel _2_.safetensors\"; filename*=UTF-8''V%C3%B6gel%20%222%22.safetensors");
}

// One photo of green among the red ones.
TEST_F(StudioAnalysisTest, WhatIsRightIsNotShownAgain) {
  AskedStudio studio(studio::write_tiny_backbone(scratch_));
  upload(studio, "green", studio::kGreen, 12);  // with fewer examples the audit does not look
  const std::string odd = photo_of(studio::kGreen, 60);
  const Json header = {{"class", "red"}, {"files", Json::array({Json::array({"odd.webp", odd.size()})})}};
  upload(studio, "red", studio::kRed, 12);
  upload(studio, "blue", studio::kBlue, 12);
  EXPECT_EQ(studio.with_key("POST", "/api/photos", header.dump() + "\n" + odd).status, 200);
  get(studio, "/api/analysis");
  ASSERT_TRUE(trained(studio)["analysis"]["current"].get<bool>());
  const auto suspects = [&] {
    Json found = Json::array();
    const Json analysis = get(studio, "/api/analysis");
    for (const Json& finding : analysis["findings"]) {
      if (finding["kind"] == "mislabelled") found.push_back(finding);
    }
    return found;
  };
  ASSERT_EQ(suspects().size(), 1U) << get(studio, "/api/analysis");
  const Json suspect = suspects()[0];
  EXPECT_EQ(suspect["name"], "red");
  EXPECT_EQ(suspect["other"], "green");
  EXPECT_GT(suspect["sure"].get<double>(), 0.5);
  EXPECT_TRUE(suspect.contains("own_photo") && suspect.contains("other_photo"));
  Json said = {{"kind", "mislabelled"}, {"photo", suspect["photo"]}, {"project", "another"}};
  EXPECT_EQ(studio.with_key("POST", "/api/findings/confirm", said.dump()).status, 409);
  EXPECT_EQ(suspects().size(), 1U);
  said.erase("project");
  EXPECT_EQ(studio.with_key("POST", "/api/findings/confirm", said.dump()).status, 200);
  EXPECT_TRUE(suspects().empty());
  EXPECT_EQ(get(studio, "/api/state")["analysis"]["confirmed"], 1);
  said["right"] = false;
  EXPECT_EQ(studio.with_key("POST", "/api/findings/confirm", said.dump()).status, 200);
  EXPECT_EQ(suspects().size(), 1U);
  for (const char* body : {"", "[]", "{}", R"({"kind":"outlier"})", R"({"kind":"outlier","photo":"none"})"}) {
    EXPECT_EQ(studio.with_key("POST", "/api/findings/confirm", body).status, 400) << body;
  }
}

}  // namespace
}  // namespace annulus::server
