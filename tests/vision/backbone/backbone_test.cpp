// Every shape of ONNX image encoder gives the features a plain convolution gives; what cannot be used is rejected in
// words.
#include "annulus/vision/backbone/backbone.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/vision/backbone/onnxruntime.h"
#include "annulus/vision/onnx/protobuf.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"

namespace annulus {
namespace {

constexpr std::size_t kSide = 8;
constexpr std::size_t kDimension = 5;

std::filesystem::path model(const std::string& name) {
  return std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" / (name + ".onnx");
}

float pixel(std::size_t image, std::size_t index) {
  return static_cast<float>((index * 37 + image * 11) % 101) / 101.0F - 0.5F;
}

Matrix<float> images(std::size_t count, std::size_t side = kSide) {
  Matrix<float> result(count, 3 * side * side);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < result.cols(); ++j) result(i, j) = pixel(i, j);
  }
  return result;
}

// The convolution of tests/data/backbones/make.py at one of its four positions.
double convolve(std::size_t image, std::size_t channel, std::size_t top, std::size_t left) {
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 4; ++x) {
        const auto step = static_cast<int>((channel * 7 + c * 5 + y * 3 + x) % 11) - 5;
        const float value = pixel(image, c * kSide * kSide + (top * 4 + y) * kSide + left * 4 + x);
        sum += static_cast<double>(value) * step / 16.0;
      }
    }
  }
  return sum;
}

double expected(std::size_t image, std::size_t channel) {
  return (convolve(image, channel, 0, 0) + convolve(image, channel, 0, 1) + convolve(image, channel, 1, 0) +
          convolve(image, channel, 1, 1)) /
         4;
}

Matrix<float> features_of(const Backbone& backbone, std::size_t count, int threads = 1) {
  Matrix<float> rows(count, backbone.dimension());
  backbone.run(images(count).view(), kSide, kSide, rows.view(), threads);
  return rows;
}

std::string message_of(const std::string& name, const BackboneOptions& options = {}) {
  try {
    const Backbone backbone(model(name), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class BackboneTest : public NeedsOnnxRuntime {};

TEST_F(BackboneTest, EveryShapeGivesTheFeaturesOfTheConvolution) {
  for (const char* name :
       {"vector", "any_size", "fixed_one", "fixed_four", "channels_last", "half", "map", "map_channels_last"}) {
    const Backbone backbone(model(name));
    ASSERT_EQ(backbone.dimension(), kDimension) << name;
    const Matrix<float> rows = features_of(backbone, 7);
    const double tolerance = std::string(name) == "half" ? 4e-3 : 2e-6;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      for (std::size_t d = 0; d < kDimension; ++d) {
        ASSERT_NEAR(static_cast<double>(rows(i, d)), expected(i, d), tolerance) << name << ", image " << i;
      }
    }
  }
}

TEST_F(BackboneTest, TokensAreTheClassTokenOrTheMeanOfPatches) {
  const Backbone by_class(model("tokens"));
  BackboneOptions options;
  options.tokens = TokenPooling::kMean;
  const Backbone by_mean(model("tokens"), options);
  EXPECT_EQ(by_class.output_rule(), "last_hidden_state, class token");
  EXPECT_EQ(by_mean.output_rule(), "last_hidden_state, mean of patch tokens");
  EXPECT_NE(by_class.identity(), by_mean.identity());
  const Matrix<float> class_rows = features_of(by_class, 2);
  const Matrix<float> mean_rows = features_of(by_mean, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t d = 0; d < kDimension; ++d) {
      EXPECT_NEAR(static_cast<double>(class_rows(i, d)), 2 * expected(i, d), 4e-6);
      EXPECT_NEAR(static_cast<double>(mean_rows(i, d)), expected(i, d), 2e-6);
    }
  }
}

TEST_F(BackboneTest, BitsDependNeitherOnThreadsNorOnTheBatch) {
  for (const char* name : {"vector", "fixed_four", "channels_last", "tokens"}) {
    const Backbone backbone(model(name));
    const Matrix<float> together = features_of(backbone, 9);
    const Matrix<float> threaded = features_of(backbone, 9, 3);
    const Matrix<float> alone = features_of(backbone, 1);
    EXPECT_EQ(std::memcmp(together.data(), threaded.data(), 9 * kDimension * sizeof(float)), 0) << name;
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), kDimension * sizeof(float)), 0) << name;
  }
}

TEST_F(BackboneTest, DescribesItself) {
  const Backbone backbone(model("vector"));
  std::ifstream stream(model("vector"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  EXPECT_EQ(backbone.sha256(), sha256_hex(std::as_bytes(std::span(bytes))));
  EXPECT_EQ(backbone.output_rule(), "features");
  EXPECT_EQ(backbone.preprocessing(), "a recipe");
  EXPECT_EQ(backbone.height(), kSide);
  EXPECT_EQ(backbone.batch(), 1U);
  EXPECT_EQ(Backbone(model("any_size")).height(), 0U);
  EXPECT_EQ(Backbone(model("fixed_four")).batch(), 4U);
}

TEST_F(BackboneTest, AnOutputMayBeChosenByName) {
  BackboneOptions options;
  options.output = "right";
  const Backbone backbone(model("two_outputs"), options);
  EXPECT_NEAR(static_cast<double>(features_of(backbone, 1)(0, 2)), 2 * expected(0, 2), 4e-6);
}

TEST_F(BackboneTest, WhatCannotBeUsedIsRejectedInWords) {
  EXPECT_NE(message_of("two_inputs").find("expected a model with one input, found 2: \"image\""), std::string::npos);
  EXPECT_NE(message_of("grey").find("found \"grey\" [?, 1, 8, 8]"), std::string::npos) << message_of("grey");
  EXPECT_NE(message_of("bytes").find("float or half"), std::string::npos);
  EXPECT_NE(message_of("two_outputs").find("choose one of \"left\" [?, 5], \"right\" [?, 5]"), std::string::npos);
  BackboneOptions options;
  options.output = "middle";
  EXPECT_NE(message_of("two_outputs", options).find("has no output \"middle\""), std::string::npos);
  EXPECT_NE(message_of("no_such_file").find("no_such_file.onnx"), std::string::npos);
}

TEST_F(BackboneTest, WrongImageSizeIsRejected) {
  const Backbone backbone(model("vector"));
  Matrix<float> rows(1, kDimension);
  try {
    backbone.run(images(1, 12).view(), 12, 12, rows.view());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("takes images of 8 x 8, found 12 x 12"), std::string::npos)
        << error.what();
  }
}

TEST_F(BackboneTest, BrokenFilesAreErrors) {
  std::ifstream stream(model("vector"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto file = std::filesystem::temp_directory_path() / ("annulus_broken_" + std::to_string(::getpid()) + ".onnx");
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    std::ofstream(file, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(length));
    EXPECT_THROW(Backbone{file}, Error) << length << " bytes";
  }
  // Flipped bytes may leave a model that runs; what they may not do is end the process or throw anything else.
  for (std::size_t place = 0; place < whole.size(); place += 13) {
    std::string bytes = whole;
    bytes[place] = static_cast<char>(bytes[place] ^ 0x55);
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    try {
      const Backbone backbone(file);
      EXPECT_GT(backbone.dimension(), 0U);
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
  std::filesystem::remove(file);
}

TEST_F(BackboneTest, WeightsOutsideTheFolderAreNotRead) {
  const auto folder = std::filesystem::temp_directory_path() / ("annulus_outside_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "net");
  std::ofstream(folder / "secret", std::ios::binary) << std::string(64, 'x');
  const std::string weight = number_field(1, 4) + number_field(2, 1) + bytes_field(8, "w") + number_field(14, 1) +
                             bytes_field(13, bytes_field(1, "location") + bytes_field(2, "../secret"));
  const std::string model = number_field(1, 7) + bytes_field(8, number_field(2, 13)) +
                            bytes_field(7, bytes_field(2, "graph") + bytes_field(5, weight));
  std::ofstream(folder / "net" / "a.onnx", std::ios::binary) << model;
  expect_error(ErrorKind::kFormat, "expected weights in the folder of the network, found some in \"../secret\"",
               [&] { Backbone{folder / "net" / "a.onnx"}; });
  std::filesystem::remove_all(folder);
}

TEST(OnnxRuntimeDeathTest, AMissingLibraryIsReportedInOneSentence) {
  if (!built_with_vision()) GTEST_SKIP() << "built without image support";
  // The library is opened once a process: ask in a fresh one.
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("ANNULUS_ONNXRUNTIME", "/nowhere/libonnxruntime.so.1", 1);
        try {
          onnxruntime();
        } catch (const Error& error) {
          const std::string text = error.what();
          std::_Exit(text.find("expected ANNULUS_ONNXRUNTIME to name") != std::string::npos ? 7 : 1);
        }
        std::_Exit(2);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace annulus
