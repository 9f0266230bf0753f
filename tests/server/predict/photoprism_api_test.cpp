// Labels for the photos of PhotoPrism.
#include "server/predict/photoprism_api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "annulus/base/base64.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/running_server.h"

namespace annulus::server {
namespace {

using Json = nlohmann::json;

Prediction prediction_of(std::int32_t index, float probability) {
  Prediction prediction;
  prediction.top.push_back({index, probability});
  prediction.probability = probability;
  return prediction;
}

const ServedModel& served() {
  static const ServedModel model("birds", "v1", small_model(), nullptr);
  return model;
}

TEST(PhotoPrism, SeveralImagesOfAPhotoHaveEachLabelOnce) {
  const std::vector<Prediction> predictions{prediction_of(2, 0.5F), prediction_of(1, 0.6F), prediction_of(2, 0.9F)};
  const std::vector<PhotoLabel> labels = photo_labels_of(served(), predictions, 0.0);
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels[0].name, served().model().class_names[2]);
  EXPECT_EQ(labels[0].confidence, 0.9F);
  EXPECT_EQ(labels[1].name, served().model().class_names[1]);
  EXPECT_EQ(labels[1].confidence, 0.6F);
}

TEST(PhotoPrism, TheResponseHasTheFormOfItsVisionService) {
  const std::vector<PhotoLabel> labels{{"a \"robin\"", 0.75F}};
  const Json answer = Json::parse(labels_json("id-1", served(), labels));
  EXPECT_EQ(answer, Json::parse(R"({"id": "id-1", "code": 200,
      "model": {"type": "labels", "name": "birds", "version": "v1"},
      "result": {"labels": [{"name": "a \"robin\"", "source": "image", "confidence": 0.75, "topicality": 0.75}]}})"));
  EXPECT_EQ(Json::parse(labels_json("", served(), {}))["result"]["labels"], Json::array());
}

TEST(PhotoPrism, WhatCannotBeAnsweredIsASentence) {
  RunningServer running;
  RawClient client(running.port());
  const std::string path = "/api/v1/vision/labels";
  const RawResponse address =
      client.ask("POST", path, R"({"id": "1", "url": "https://example.org/a.jpg"})", json_header());
  EXPECT_EQ(address.status, 422);
  EXPECT_TRUE(Json::parse(address.body)["error"].is_string());
  EXPECT_EQ(client.ask("POST", path, R"({"model": "other", "images": ["YWJj"]})", json_header()).status, 404);
  EXPECT_EQ(client.ask("POST", path, features_body(0), json_header()).status, 422);
  // This model has no backbone.
  EXPECT_EQ(client.ask("POST", path, R"({"images": ["data:image/png;base64,YWJj"]})", json_header()).status, 422);
}

class PhotoPrismImages : public NeedsOnnxRuntime {};

TEST_F(PhotoPrismImages, APhotoGetsTheLabelThatPredictGives) {
  ServeOptions options = image_options();
  options.false_reject = 0.0;
  RunningServer running(options, {}, model_of_set(six_classes(5)));
  RawClient client(running.port());
  const std::string photo = "data:image/png;base64," + base64_encoded(red_picture());
  const RawResponse labelled =
      client.ask("POST", "/api/v1/vision/labels", Json{{"id", "x"}, {"images", {photo, photo}}}.dump(), json_header());
  ASSERT_EQ(labelled.status, 200) << labelled.body;
  const Json answer = Json::parse(labelled.body);
  const Json predicted = Json::parse(client.ask("POST", "/predict", Json{{"image", photo}}.dump(), json_header()).body);
  ASSERT_EQ(answer["result"]["labels"].size(), 1U);
  EXPECT_EQ(answer["id"], "x");
  EXPECT_EQ(answer["result"]["labels"][0]["name"], predicted["label"]);
  EXPECT_EQ(answer["result"]["labels"][0]["confidence"], predicted["probability"]);
}

}  // namespace
}  // namespace annulus::server
