// Int8 forms in the cache: made once, used again, made again from a record, and kept apart from float32.
#include "annulus/pipeline/backbones/int8_backbone.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/load.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/vision/image/svg.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/own_cache.h"
#include "tests/fixtures/scratch_folder.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

class Int8Backbone : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    cache_.emplace(scratch_ / "cache");
    scratch_.write("small.onnx", small_network());
    network_ = {scratch_ / "small.onnx", "small.onnx", nullptr};
    for (int i = 0; i < 24; ++i) {
      const std::string svg = fmt::format(
          R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="{}" y="{}" width="7" height="5" fill="rgb({},{},{})"/></svg>)svg",
          i % 9, i % 7, i * 40 % 256, i * 7 % 256, i * 31 % 256);
      const auto png = render_svg(svg, 16, "test picture");
      photos_.push_back(
          scratch_.write(fmt::format("{:02}.png", i), {reinterpret_cast<const char*>(png.data()), png.size()}));
    }
  }
  std::filesystem::path file_for(Precision precision, const NoteCallback& note = {}) {
    return file_for_precision(network_, precision, "", photos_, {}, {}, note);
  }
  EncoderOptions options(const std::string& precision) {
    EncoderOptions chosen;
    chosen.backbone = network_.file.string();
    chosen.precision = precision;
    return chosen;
  }
  Model model_of(const Encoder& encoder) {
    Model model;
    model.provenance = feature_provenance(encoder);
    return model;
  }

  ScratchFolder scratch_;
  std::optional<OwnCache> cache_;
  ResolvedBackbone network_;
  std::vector<std::string> photos_;
};

TEST_F(Int8Backbone, IsMadeOnceAndUsedAgain) {
  std::vector<std::string> notes;
  const NoteCallback note = [&](const std::string& line) { notes.push_back(line); };
  EXPECT_EQ(file_for(Precision::kFloat32), network_.file);
  const std::filesystem::path made = file_for(Precision::kInt8, note);
  EXPECT_NE(made, network_.file);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("small in int8, ranged on 20 photos"), std::string::npos) << notes.front();
  const std::string bytes = content_of(made);
  photos_.clear();  // are not needed a second time
  EXPECT_EQ(file_for(Precision::kInt8, note), made);
  EXPECT_EQ(notes.size(), 1U);
  EXPECT_EQ(content_of(made), bytes);
  const auto kept = kept_int8(Backbone(network_.file).sha256());
  ASSERT_TRUE(kept);
  EXPECT_EQ(int8_file(*kept), made);
  EXPECT_EQ(kept->sha256, Backbone(made).sha256());
  EXPECT_GT(kept->gain, 0);
  EXPECT_GT(kept->error, 0);
  EXPECT_LT(kept->error, 1);
}

TEST_F(Int8Backbone, SamePhotosGiveTheSameFileOnAnyNumberOfThreads) {
  Int8Options chosen;
  chosen.threads = 1;
  const Int8Record first = make_int8_backbone(network_, "", photos_, chosen);
  const std::string bytes = content_of(int8_file(first));
  std::filesystem::remove_all(scratch_ / "cache");
  chosen.threads = 3;
  const Int8Record second = make_int8_backbone(network_, "", photos_, chosen);
  EXPECT_EQ(first.file, second.file);
  EXPECT_EQ(bytes, content_of(int8_file(second)));
  const Int8Record other = make_int8_backbone(network_, "", std::span(photos_).first(9), chosen);
  EXPECT_NE(other.file, first.file);
}

TEST_F(Int8Backbone, TooFewOrBrokenPhotosAndOtherNetworksAreTold) {
  std::vector<std::string> few(photos_.begin(), photos_.begin() + 3);
  expect_error(ErrorKind::kInput, "or 8 photos or more", [&] { make_int8_backbone(network_, "", few); });
  const std::vector<std::string> broken(10, scratch_.write("broken.png", "nothing").string());
  expect_error(ErrorKind::kInput, "none of", [&] { make_int8_backbone(network_, "", broken); });
  const ResolvedBackbone old{std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" / "vector.onnx", "vector", nullptr};
  EXPECT_THROW(make_int8_backbone(old, "unit resize=8x8 crop=none", photos_), Error);
  expect_error(ErrorKind::kUsage, "float32, int8 or auto, found \"int4\"", [&] { parse_precision("int4"); });
}

TEST_F(Int8Backbone, AutoNeedsManyPhotosAndAGain) {
  EXPECT_EQ(file_for(Precision::kAuto), network_.file);
  Int8Options eager;
  eager.auto_photos = 1;
  eager.least_gain = 0;
  eager.largest_error = 1e9;
  const auto chosen = [&](const Int8Options& from) {
    return file_for_precision(network_, Precision::kAuto, "", photos_, from);
  };
  EXPECT_NE(chosen(eager), network_.file);
  eager.largest_error = 0;
  EXPECT_EQ(chosen(eager), network_.file);
  eager = {};
  eager.least_gain = 1e9;
  EXPECT_EQ(chosen(eager), network_.file);
}

TEST_F(Int8Backbone, AModelKnowsItsPrecision) {
  const Encoder exact = open_encoder(options("float32"), {}, photos_);
  const Encoder int8 = open_encoder(options("int8"), {}, photos_);
  const Model of_float = model_of(exact);
  const Model of_int8 = model_of(int8);
  EXPECT_EQ(precision_of(of_float.provenance), "float32");
  EXPECT_EQ(precision_of(of_int8.provenance), "int8");
  EXPECT_EQ(of_int8.provenance.at("float32_sha256"), exact.parts.front().backbone.sha256());
  EXPECT_EQ(without_precision(of_int8.provenance), of_float.provenance);
  expect_error(ErrorKind::kInput, "encoded in int8, and photos in float32",
               [&] { check_same_provenance(of_int8.provenance, "m", of_float.provenance, "photos"); });
  // Without a word the model's own; with one the other.
  EXPECT_EQ(open_encoder_of(of_int8, "m", options(""), {}).parts.front().backbone.sha256(),
            int8.parts.front().backbone.sha256());
  EXPECT_EQ(open_encoder_of(of_float, "m", options(""), {}).parts.front().backbone.sha256(),
            exact.parts.front().backbone.sha256());
  EXPECT_EQ(open_encoder_of(of_int8, "m", options("float32"), {}).parts.front().backbone.sha256(),
            exact.parts.front().backbone.sha256());
  EXPECT_EQ(open_encoder_of(of_float, "m", options("int8"), {}).parts.front().backbone.sha256(),
            int8.parts.front().backbone.sha256());
}

TEST_F(Int8Backbone, IsMadeAgainFromTheRecordOfAModel) {
  const Encoder int8 = open_encoder(options("int8"), {}, photos_);
  const Model model = model_of(int8);
  const std::string bytes = content_of(int8.parts.front().backbone.file());
  std::filesystem::remove_all(scratch_ / "cache");
  const Encoder again = open_encoder_of(model, "m", options(""), {});
  EXPECT_EQ(content_of(again.parts.front().backbone.file()), bytes);
  // Another network is told from it.
  Model other = model_of(again);
  other.provenance["float32_sha256"] = std::string(64, '0');
  expect_error(ErrorKind::kInput, "expected the network that int8 features were made with",
               [&] { open_encoder_of(other, "m", options(""), {}); });
}

TEST_F(Int8Backbone, FeaturesOfTheOtherPrecisionAreRejected) {
  const Encoder exact = open_encoder(options("float32"), {}, photos_);
  const Encoder int8 = open_encoder(options("int8"), {}, photos_);
  Model model = model_of(int8);
  model.head.direction = Matrix<float>(2, kSmallDimension);
  Matrix<float> rows(1, kSmallDimension);
  rows(0, 0) = 1.0F;
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.provenance = model_of(exact).provenance;
  parts.source = "rows";
  const FeatureSet set(std::move(parts));
  expect_error(ErrorKind::kInput, "m was made with photos that small.onnx encoded in int8, and rows in float32",
               [&] { check_features(set, model, "m"); });
  EXPECT_NO_THROW(check_features(set, model, "m", true));
}

}  // namespace
}  // namespace annulus
