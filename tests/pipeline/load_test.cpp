// From paths to feature sets: what a path is taken for, which labels are kept, and which features a model accepts.
#include "annulus/pipeline/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/task/synthetic.h"
#include "annulus/vision/image/svg.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

Model model_of(std::size_t dimension) {
  Model model;
  model.head.direction = Matrix<float>(2, dimension);
  model.class_names = {"a", "b"};
  return model;
}

FeatureSet small_features() {
  SyntheticOptions options;
  options.classes = 3;
  options.dimension = 4;
  return make_synthetic(options);
}

TEST(CheckFeatures, RejectsAnotherDimensionOrMaker) {
  Matrix<float> features(1, 2);
  features(0, 0) = 1.0F;
  FeatureSetParts parts = parts_of(std::move(features));
  parts.source = "rows.npz";
  parts.provenance = {{"backbone_sha256", "aa"}, {"preprocessing", "unit"}};
  const FeatureSet set(std::move(parts));
  expect_error(ErrorKind::kInput,
               "rows.npz: expected features of 3 dimensions as m.safetensors was trained on, found 2",
               [&] { check_features(set, model_of(3), "m.safetensors"); });
  Model model = model_of(2);
  check_features(set, model, "m.safetensors");  // its record says nothing
  model.provenance = {{"backbone_sha256", "aa"}, {"preprocessing", "unit"}, {"backbone_output", "pooled"}};
  check_features(set, model, "m.safetensors");
  model.provenance["preprocessing"] = "clip";
  expect_error(ErrorKind::kInput, "preprocessing \"clip\"", [&] { check_features(set, model, "m.safetensors"); });
  model.provenance["backbone_sha256"] = "bb";
  expect_error(ErrorKind::kInput, "backbone of checksum \"bb\"", [&] { check_features(set, model, "m.safetensors"); });
}

class LoadFiles : public testing::Test {
 protected:
  ScratchFolder folder_;
};

TEST_F(LoadFiles, AFeatureFileIsReadAndTakesNoList) {
  const std::filesystem::path file = folder_.path() / "rows.safetensors";
  write_features(small_features(), file);
  std::vector<std::string> stages;
  LoadOptions options;
  options.progress = [&](const Progress& progress) {
    stages.push_back(progress.stage);
    return true;
  };
  const FeatureSet set = load_set(file, options);
  EXPECT_EQ(content_checksum(set), content_checksum(small_features()));
  EXPECT_EQ(stages, (std::vector<std::string>{"read " + file.string()}));
  const std::vector<std::string> paths{file.string()};
  EXPECT_EQ(load_prediction_set(paths, model_of(4), "m", options).rows(), set.rows());
  expect_error(ErrorKind::kInput, "dimensions", [&] { load_prediction_set(paths, model_of(5), "m", options); });
  options.list = folder_.path() / "few.txt";
  expect_error(ErrorKind::kUsage, "expected a folder of images for list", [&] { load_set(file, options); });
  options.progress = [](const Progress&) { return false; };
  expect_error(ErrorKind::kCancelled, "", [&] { load_set(file, options); });
}

class LoadImages : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::filesystem::path file =
          folder_.path() / "photos" / (i % 2 == 0 ? "even" : "odd") / (std::to_string(i) + ".png");
      std::filesystem::create_directories(file.parent_path());
      const auto png = render_svg(
          fmt::format(
              R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="{}" height="8" fill="red"/></svg>)svg",
              i + 1),
          16, "test picture");
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
    }
    options_.encoder.backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
    options_.encoder.preprocess = "unit resize=8x8 crop=none";
    options_.encoder.cache = (folder_ / "cache").string();
    options_.note = [this](const std::string& note) { notes_.push_back(note); };
  }

  std::string photos() const { return (folder_.path() / "photos").string(); }

  ScratchFolder folder_;
  LoadOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(LoadImages, FoldersAreEncodedAndTheirFeaturesStayInTheCacheAlone) {
  const FeatureSet set = load_set(photos(), options_);
  ASSERT_EQ(set.rows(), 6U);
  EXPECT_EQ(set.class_names()[1], "odd");
  EXPECT_EQ(set.source(), photos());
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(options_.encoder.cache)) {
    const std::string end = file.path().extension();
    EXPECT_TRUE(end == ".rows" || end == ".keys") << file.path();
    if (end == ".rows") {
      EXPECT_EQ(file.file_size(), 6 * set.dimension() * sizeof(float));
    }
    ++files;
  }
  EXPECT_EQ(files, 2U);
  // Features are mapped from the cache: they outlive its files.
  const std::string checksum = content_checksum(set);
  std::filesystem::remove_all(options_.encoder.cache);
  EXPECT_EQ(content_checksum(set), checksum);
  EXPECT_EQ(content_checksum(load_set(photos(), options_)), checksum);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(LoadImages, InputsOfAModelKeepTheLabelsOfOneFolderOnly) {
  const FeatureSet set = load_set(photos(), options_);
  Model model = model_of(set.dimension());
  model.provenance = set.provenance();
  const std::vector<std::string> one{photos()};
  EXPECT_EQ(content_checksum(load_prediction_set(one, model, "m", options_)), content_checksum(set));
  const std::string missing = photos() + "/odd/missing.png";
  const std::vector<std::string> several{photos() + "/even", photos() + "/odd/3.png", missing};
  const FeatureSet input = load_prediction_set(several, model, "m", options_);
  EXPECT_EQ(input.rows(), 4U);
  EXPECT_FALSE(input.labelled());
  EXPECT_EQ(input.source(), "3 inputs");
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_TRUE(notes_.front().starts_with("left out " + missing)) << notes_.front();

  std::ifstream stream(photos() + "/odd/3.png", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const FeatureSet image =
      load_prediction_image(std::as_bytes(std::span(bytes)), "standard input", model, "m", options_);
  Matrix<float> by_path(1, set.dimension());
  Matrix<float> by_bytes(1, set.dimension());
  input.copy_rows(3, by_path.view());
  image.copy_rows(0, by_bytes.view());
  EXPECT_TRUE(std::equal(by_path.row(0).begin(), by_path.row(0).end(), by_bytes.row(0).begin()));
}

TEST_F(LoadImages, BoxesArePredictedEachWithTheMarginOfTheModel) {
  const std::filesystem::path boxes =
      folder_.write("boxes.csv", "file,x,y,width,height\neven/2.png,0,0,4,8\neven/2.png,4,0,4,8\nodd/1.png,2,2,8,8\n");
  LoadOptions cropping = options_;
  cropping.boxes.file = boxes;
  cropping.encoder.crop_margin = 0.25;
  const FeatureSet set = load_set(photos(), cropping);
  ASSERT_EQ(set.rows(), 3U);
  EXPECT_TRUE(set.paths()[1].ends_with("even/2.png#xywh=4,0,4,8")) << set.paths()[1];
  EXPECT_TRUE(set.provenance().at("preprocessing").ends_with(" margin=0.25"));
  EXPECT_EQ(notes_.size(), 1U);  // four photos have no box

  Model model = model_of(set.dimension());
  model.provenance = set.provenance();
  options_.encoder.preprocess.clear();
  options_.boxes.file = boxes;
  const std::vector<std::string> one{photos()};
  EXPECT_EQ(content_checksum(load_prediction_set(one, model, "m", options_)), content_checksum(set));
  options_.boxes.file.clear();
  const std::vector<std::string> named{set.paths()[1]};
  const FeatureSet alone = load_prediction_set(named, model, "m", options_);
  Matrix<float> expected(3, set.dimension());
  Matrix<float> found(1, set.dimension());
  set.copy_rows(0, expected.view());
  alone.copy_rows(0, found.view());
  EXPECT_TRUE(std::equal(found.row(0).begin(), found.row(0).end(), expected.row(1).begin()));
  EXPECT_FALSE(std::equal(found.row(0).begin(), found.row(0).end(), expected.row(0).begin()));

  options_.encoder.crop_margin = 0.5;
  expect_error(ErrorKind::kInput, "preprocessing", [&] { load_prediction_set(named, model, "m", options_); });
}

}  // namespace
}  // namespace annulus
