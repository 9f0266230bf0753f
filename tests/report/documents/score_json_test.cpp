// The keys that readers rely on.
#include "annulus/report/documents/score_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fixtures/made_score.h"

namespace annulus {
namespace {

TEST(ScoreJson, HasTheNumbersOfTheReport) {
  const auto json = score_json(made_score());
  EXPECT_EQ(json["accuracy"], 50.0);
  EXPECT_EQ(json["interval"], nlohmann::json::array({15.0, 85.0}));
  EXPECT_EQ(json["examples"], 4);
  EXPECT_TRUE(json["top5"].is_null());
  EXPECT_EQ(json["training_examples_left_out"], 3);
  ASSERT_EQ(json["classes"].size(), 3U);
  EXPECT_EQ(json["classes"][0]["name"], "ash");
  EXPECT_EQ(json["classes"][0]["recall"], 50.0);
  EXPECT_EQ(json["classes"][0]["precision"], 100.0);
  EXPECT_TRUE(json["classes"][2]["recall"].is_null());
  EXPECT_TRUE(json["classes"][2]["recall_interval"].is_null());
  ASSERT_EQ(json["confusion"].size(), 5U);
  EXPECT_EQ(json["confusion"][4]["label"], "elm");
  EXPECT_EQ(json["confusion"][4]["known"], false);
  EXPECT_EQ(json["calibration"]["ece"], 12.5);
  EXPECT_EQ(json["calibration"]["bins"].size(), 2U);
  EXPECT_EQ(json["unknown"]["examples"], 1);
  EXPECT_EQ(json["unknown"]["chosen"]["false_reject"], 0.05);
  EXPECT_EQ(json["unknown"]["chosen"]["expected_caught"], 40.0);
  EXPECT_EQ(json["unknown"]["curve"].size(), 2U);
  ASSERT_EQ(json["worst"].size(), 2U);
  EXPECT_EQ(json["worst"][0]["path"], "b/5.jpg");
  EXPECT_EQ(json["worst"][0]["predicted"], "ash");
}

TEST(ScoreJson, AModelWithoutARuleHasNoCurveAndListsAreBounded) {
  ScoreReport report = made_score();
  report.may_reject = false;
  report.curve.clear();
  report.worst.assign(kMostWorstInJson + 5, 1);
  const auto json = score_json(report);
  EXPECT_EQ(json["unknown"]["can_reject"], false);
  EXPECT_TRUE(json["unknown"]["chosen"].is_null());
  EXPECT_TRUE(json["unknown"]["curve"].empty());
  EXPECT_TRUE(json["unknown"]["labels"][0]["rejected"].is_null());
  EXPECT_EQ(json["worst"].size(), kMostWorstInJson);
}

}  // namespace
}  // namespace annulus
