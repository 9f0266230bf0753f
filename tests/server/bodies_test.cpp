// Bodies of requests: base64, forms, JSON of our own and of the Open Inference Protocol, in right and wrong forms.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "server/base64.h"
#include "server/infer_body.h"
#include "server/multipart.h"
#include "server/predict_api.h"
#include "server/predict_body.h"

namespace annulus::server {
namespace {

TEST(Base64, DecodesBothAlphabetsWithAndWithoutPadding) {
  EXPECT_EQ(base64_decoded(""), "");
  EXPECT_EQ(base64_decoded("YQ=="), "a");
  EXPECT_EQ(base64_decoded("YQ"), "a");
  EXPECT_EQ(base64_decoded("YWI="), "ab");
  EXPECT_EQ(base64_decoded("YW\r\nJj"), "abc");
  EXPECT_EQ(base64_decoded("+/+/"), base64_decoded("-_-_"));
  EXPECT_EQ(base64_decoded("//79"), "\xFF\xFE\xFD");
  for (const char* bad : {"Y", "YWJjZ", "YQ=", "Y*==", "=", "YQ==YQ==", "\x80\x80\x80\x80"}) {
    EXPECT_THROW(base64_decoded(bad), Error) << bad;
  }
}

TEST(Base64, ImagesAreDataNotAddresses) {
  EXPECT_EQ(image_bytes_of_text("data:image/png;base64,YWJj"), "abc");
  EXPECT_EQ(image_bytes_of_text("YWJj"), "abc");
  for (const char* bad : {"http://localhost/a.png", "file:///etc/passwd", "data:image/png,abc", "data:"}) {
    EXPECT_THROW(image_bytes_of_text(bad), Error) << bad;
  }
}

TEST(Multipart, FindsPartsAndTheirNames) {
  const std::string boundary = boundary_of("multipart/form-data; charset=x; boundary=\"a b\"");
  EXPECT_EQ(boundary, "a b");
  EXPECT_EQ(boundary_of("Multipart/Form-Data;boundary=xyz"), "xyz");
  EXPECT_EQ(boundary_of("application/json; boundary=xyz"), "");
  const std::string body =
      "--a b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"..\\\"/x.png\"\r\nContent-Type: "
      "image/png\r\n\r\n"
      "bytes\r\n--not it\r\n\r\n--a b\r\ncontent-disposition: form-data; name=model\r\n\r\n\r\n--a b--\r\n";
  const std::vector<FormPart> parts = parse_multipart(body, boundary);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "image");
  EXPECT_EQ(parts[0].filename, "..\"/x.png");
  EXPECT_TRUE(parts[0].is_file);
  EXPECT_EQ(parts[0].body, "bytes\r\n--not it\r\n");
  EXPECT_EQ(parts[1].name, "model");
  EXPECT_FALSE(parts[1].is_file);
  EXPECT_EQ(parts[1].body, "");
}

TEST(Multipart, EveryCutIsRefusedOrWhole) {
  const std::string body = "--b\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\nbytes\r\n--b--";
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_THROW(parse_multipart(body.substr(0, size), "b"), Error) << size;
  }
  EXPECT_EQ(parse_multipart(body, "b").size(), 1U);
  EXPECT_THROW(parse_multipart(body, ""), Error);
  EXPECT_THROW(parse_multipart(body, "c"), Error);
}

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

TEST(PredictBody, WhatCannotBeReadOrUsedIsRefused) {
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

InferAsk inferred(std::string body, std::size_t json_bytes = 0) {
  BodyLimits limits;
  limits.max_rows = 3;
  limits.max_images = 2;
  const std::size_t size = json_bytes == 0 ? body.size() : json_bytes;
  return parse_infer(body, size, limits);
}

TEST(InferBody, TensorsInAnyOrderOfFields) {
  const InferAsk ask = inferred(
      R"({"id": "7", "parameters": {"false_reject": 0.1}, "outputs": [{"name": "label"}],
          "inputs": [{"data": [[1, 2], [3, 4]], "shape": [2, 2], "datatype": "FP32", "name": "X"}]})");
  EXPECT_EQ(ask.id, "7");
  EXPECT_EQ(ask.options.false_reject, 0.1);
  EXPECT_EQ(ask.outputs, std::vector<std::string>{"label"});
  EXPECT_EQ(ask.rows(1, 0), 3.0F);
  const InferAsk flat =
      inferred(R"({"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]})");
  EXPECT_EQ(flat.rows.cols(), 3U);
  const InferAsk image =
      inferred(R"({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1, 1], "data": ["YWJj"]}]})");
  EXPECT_EQ(image.images, std::vector<std::string>{"abc"});
}

TEST(InferBody, BinaryTensors) {
  const std::string json =
      R"({"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 2], "parameters": {"binary_data_size": 8}}]})";
  const float numbers[2] = {1.5F, -2.0F};
  const std::string bytes(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  EXPECT_EQ(inferred(json + bytes, json.size()).rows(0, 1), -2.0F);
  EXPECT_THROW(inferred(json + bytes.substr(1), json.size()), Error);
  EXPECT_THROW(inferred(json, json.size() + 1), Error);
  const std::string image =
      R"({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 7}}]})";
  EXPECT_EQ(inferred(image + std::string("\3\0\0\0abc", 7), image.size()).images, std::vector<std::string>{"abc"});
  EXPECT_THROW(inferred(image + std::string("\4\0\0\0abc", 7), image.size()), Error);
}

TEST(InferBody, TensorsThatDoNotFitAreRefused) {
  for (const char* bad :
       {"", "{}", R"({"inputs": []})",
        R"({"inputs": [{"name": "Y", "datatype": "FP32", "shape": [1, 1], "data": [1]}]})",
        R"({"inputs": [{"name": "X", "datatype": "INT8", "shape": [1, 1], "data": [1]}]})",
        R"({"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 2], "data": [1]}]})",
        R"({"inputs": [{"name": "X", "datatype": "FP32", "shape": [4, 1], "data": [1, 2, 3, 4]}]})",
        R"({"inputs": [{"name": "X", "datatype": "FP32", "shape": [9223372036854775808, 2], "data": []}]})",
        R"({"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, -1], "data": [1]}]})",
        R"({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [2], "data": ["YQ"]}]})",
        R"({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [99999999999], "data": ["YQ"]}]})"}) {
    EXPECT_THROW(inferred(bad), Error) << bad;
  }
}

TEST(InferBody, ArraysNestedDeeplyAreRefused) {
  const auto tensor = [](std::size_t opened, std::size_t closed) {
    return R"({"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 1], "data": )" + std::string(opened, '[') +
           "1" + std::string(closed, ']') + "}]}";
  };
  EXPECT_EQ(inferred(tensor(8, 8)).rows(0, 0), 1.0F);
  const std::size_t megabyte = std::size_t{1} << 20;
  for (const std::string& body : {tensor(9, 9), tensor(megabyte, 0), tensor(megabyte, megabyte)}) {
    try {
      inferred(body);
      ADD_FAILURE() << "taken: " << body.substr(0, 100);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    }
  }
  // Where nothing is read, nothing is entered.
  const std::string deep = std::string(megabyte, '[') + std::string(megabyte, ']');
  EXPECT_THROW(inferred("{\"unheard\": " + deep + "}"), Error);
  EXPECT_THROW(parsed("{\"unheard\": " + deep + "}"), Error);
  EXPECT_THROW(parsed("{\"features\": " + deep + "}"), Error);
}

}  // namespace
}  // namespace annulus::server
