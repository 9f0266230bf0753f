// Bodies of POST /predict: features, images, tasks of Label Studio.
#include "server/predict/predict_body.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "server/http/multipart.h"
#include "server/predict/infer_body.h"
#include "server/predict/predict_api.h"

namespace annulus::server {
namespace {

PredictAsk parsed(std::string body, const std::string& type = "application/json",
                  std::map<std::string, std::string> query = {}) {
  Request request;
  request.headers.emplace("content-type", type);
  request.body = std::move(body);
  request.query = std::move(query);
  BodyLimits limits;
  limits.max_rows = 3;
  limits.max_images = 2;
  return parse_predict(request, limits);
}

TEST(PredictBody, FeaturesInRowsOrAsOne) {
  const PredictAsk two = parsed(R"({"features": [[1, 2.5, -3e-1], [4, 5, 6]], "top": 2, "explain": true})");
  EXPECT_FALSE(two.single);
  ASSERT_EQ(two.rows.rows(), 2U);
  EXPECT_EQ(two.rows(0, 2), -0.3F);
  EXPECT_EQ(two.options.top, 2U);
  EXPECT_TRUE(two.options.explain);
  const PredictAsk one = parsed(R"({"unheard": {"of": [1]}, "features": [1, 2], "model": "birds"})", "application/json",
                                {{"false_reject", "0.25"}});
  EXPECT_TRUE(one.single);
  EXPECT_EQ(one.rows.cols(), 2U);
  EXPECT_EQ(one.options.model, "birds");
  EXPECT_EQ(one.options.false_reject, 0.25);
}

TEST(PredictBody, ImagesInThreeForms) {
  EXPECT_EQ(parsed("bytes", "image/png").images, std::vector<std::string>{"bytes"});
  EXPECT_EQ(parsed(R"({"image": "YWJj"})").images, std::vector<std::string>{"abc"});
  EXPECT_FALSE(parsed(R"({"images": ["YWJj"]})").single);
  const PredictAsk form =
      parsed("--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"x\"\r\n\r\nabc\r\n--b--",
             "multipart/form-data; boundary=b");
  EXPECT_EQ(form.images, std::vector<std::string>{"abc"});
  EXPECT_TRUE(form.single);
}

TEST(PredictBody, WhatCannotBeReadOrUsedIsRejected) {
  for (const char* bad : {"",
                          "{",
                          "[]",
                          "{}",
                          "nothing",
                          R"({"features": [[1], [2, 3]]})",
                          R"({"features": [[]]})",
                          R"({"features": []})",
                          R"({"features": [1, [2]]})",
                          R"({"features": [[1], 2]})",
                          R"({"features": [["a"]]})",
                          R"({"features": 1})",
                          R"({"features": [[1]], "image": "YWJj"})",
                          R"({"features": [[1e39]]})",
                          R"({"features": [[1]]} x)",
                          R"({"features": [[1],[2],[3],[4]]})",
                          R"({"images": ["YQ","YQ","YQ"]})",
                          R"({"image": "http://x/y.png"})",
                          R"({"image": 7})",
                          R"({"features": [1], "top": 0})",
                          R"({"features": [1], "top": -1})",
                          R"({"features": [1], "false_reject": 1})",
                          R"({"features": [NaN]})",
                          R"({"features": [[1]]}{"features": [[1]]})",
                          R"({"tasks": [{"data": {"image": "/upload/1.png"}}]})",
                          "{\"features\": [1\xFF]}"}) {
    EXPECT_THROW(parsed(bad), Error) << bad;
  }
  EXPECT_THROW(parsed("x", "image/png", {{"top", "many"}}), Error);
  EXPECT_THROW(parsed("x", "image/png", {{"false_reject", "-0.1"}}), Error);
  EXPECT_THROW(parsed(std::string(100'000, '['), "application/json"), Error);
}

TEST(PredictBody, TasksOfLabelStudio) {
  const PredictAsk ask = parsed(
      R"({"tasks": [{"id": 1, "data": {"text": "a", "photo": "data:image/png;base64,YWJj"}}], "project": "1.2",
          "label_config": "<View><Image name=\"img\" value=\"$photo\"/><Choices name=\"kind\" toName=\"img\"/></View>"})");
  EXPECT_TRUE(ask.label_studio);
  EXPECT_EQ(ask.images, std::vector<std::string>{"abc"});
  const LabelTags tags = label_tags_of(ask.label_config);
  EXPECT_EQ(tags.from_name, "kind");
  EXPECT_EQ(tags.to_name, "img");
  EXPECT_EQ(label_tags_of("<Choices name=").from_name, "choice");
}

TEST(PredictBody, ArraysNestedDeeplyAreRejected) {
  constexpr std::size_t kMegabyte = 1 << 20;
  const std::string deep = std::string(kMegabyte, '[') + std::string(kMegabyte, ']');
  EXPECT_THROW(parsed("{\"unheard\": " + deep + "}"), Error);
  EXPECT_THROW(parsed("{\"features\": " + deep + "}"), Error);
}

}  // namespace
}  // namespace annulus::server
