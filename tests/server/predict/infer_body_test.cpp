// Bodies of the Open Inference Protocol.
#include "server/predict/infer_body.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "annulus/base/error.h"

namespace annulus::server {
namespace {

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

TEST(InferBody, TensorsThatDoNotFitAreRejected) {
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

TEST(InferBody, ArraysNestedDeeplyAreRejected) {
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
}

}  // namespace
}  // namespace annulus::server
