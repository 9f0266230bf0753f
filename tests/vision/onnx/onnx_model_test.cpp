// The ONNX writer's bytes, checked against the protocol-buffer encoding written out by hand.
#include "annulus/vision/onnx/onnx_model.h"

#include <gtest/gtest.h>

#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using namespace std::string_literals;

std::string written(const OnnxModel& model) {
  std::string bytes;
  model.write(
      [&](std::span<const std::byte> part) { bytes.append(reinterpret_cast<const char*>(part.data()), part.size()); });
  return bytes;
}

TEST(OnnxModel, EncodesNodesWeightsAndMetadata) {
  OnnxModel model;
  model.metadata("k", "v");
  model.input("x", {-1, 3});
  const std::string weight = model.weight("w", {2}, [] { return std::vector<float>{1.0F, -2.0F}; });
  EXPECT_EQ(model.node("Mul", {"x", weight}, {{"axis", std::int64_t{-1}}}, "y"), "y");
  model.output("y", {-1, 3});
  const std::string bytes = written(model);
  // ir_version 8, producer "annulus", opset 17, one metadata entry
  EXPECT_EQ(bytes.substr(0, 23),
            "\x08\x08\x12\x07"
            "annulus"
            "\x42\x02\x10\x11"
            "\x72\x06\x0a\x01"
            "k\x12\x01"
            "v"s);
  // The node: inputs, output, name, operator, attribute axis = -1 (ten bytes of varint) of type INT
  EXPECT_NE(bytes.find("\x0a\x01x\x0a\x01w\x12\x01y\x1a\x01y\x22\x03Mul\x2a\x14\x0a\x04"
                       "axis\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xa0\x01\x02"s),
            std::string::npos);
  // The weight: one length of 2, type float, name, eight raw bytes
  EXPECT_NE(bytes.find("\x2a\x11\x08\x02\x10\x01\x42\x01w\x4a\x08\0\0\x80\x3f\0\0\0\xc0"s), std::string::npos);
  // The input: float, a named free axis and 3
  EXPECT_NE(bytes.find("\x0a\x01x\x12\x13\x0a\x11\x08\x01\x12\x0d\x0a\x07\x12\x05"
                       "batch\x0a\x02\x08\x03"s),
            std::string::npos);
}

TEST(OnnxModel, ReadsWeightsOnlyWhenItIsWritten) {
  OnnxModel model;
  int reads = 0;
  model.weight("w", {1}, [&] {
    ++reads;
    return std::vector<float>{1.0F};
  });
  EXPECT_EQ(reads, 0);
  written(model);
  EXPECT_EQ(reads, 1);
}

TEST(OnnxModel, RejectsWeightsOfTheWrongSizeAndFilesBeyondTwoGigabytes) {
  OnnxModel wrong;
  wrong.weight("w", {3}, [] { return std::vector<float>{1.0F}; });
  EXPECT_THROW(written(wrong), Error);
  OnnxModel large;
  large.weight("w", {1 << 20, 1 << 10}, [] { return std::vector<float>(); });
  try {
    written(large);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("2 GB"), std::string::npos);
  }
}

}  // namespace
}  // namespace annulus
