// Metrics of features and of photos, with labels and by views.
#include "annulus/pipeline/learn_metric.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "annulus/store/features/feature_file.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/image_fixtures.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string write_set(const ScratchFolder& folder, const std::string& name, std::size_t dimension,
                      std::uint64_t seed = 0) {
  SyntheticOptions options;
  options.classes = 6;
  options.train_rows = 5;
  options.test_rows = 3;
  options.dimension = dimension;
  options.seed = seed;
  const std::filesystem::path file = folder / (name + ".safetensors");
  write_features(make_synthetic(options), file);
  return file.string();
}

TEST(LearnMetric, FromSetsOfFeaturesLeavesTestExamplesOut) {
  const ScratchFolder folder;
  const std::vector<std::string> inputs{write_set(folder, "a", 16), write_set(folder, "b", 16, 1)};
  const BackboneMetric metric = learn_metric(inputs, {});
  EXPECT_EQ(metric.dimension, 16U);
  EXPECT_EQ(metric.sets, 2U);
  EXPECT_EQ(metric.classes, 12U);
  EXPECT_EQ(metric.examples, 60U);
  EXPECT_FALSE(metric.views);
  EXPECT_TRUE(metric.network.empty() || !metric.network.contains("backbone_sha256"));
}

TEST(LearnMetric, RejectsWhatItCannotLearnFrom) {
  const ScratchFolder folder;
  const std::vector<std::string> inputs{write_set(folder, "a", 16), write_set(folder, "b", 8)};
  expect_error(ErrorKind::kInput, "one dimension, found 16 and 8", [&] { learn_metric(inputs, {}); });
  expect_error(ErrorKind::kUsage, "found none", [&] { learn_metric({}, {}); });
  LearnMetricOptions views;
  views.views = true;
  expect_error(ErrorKind::kUsage, "expected photos to take views of", [&] { learn_metric(inputs, views); });
  const std::vector<std::string> photos{std::string(ANNULUS_TEST_DATA) + "/images"};
  expect_error(ErrorKind::kUsage, "expected the name of the network", [&] { learn_metric(photos, views); });
}

class LearnMetricOfPhotos : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    copy_photos_of_two_classes(folder_ / "photos");
    options_.load.encoder.backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
    options_.load.encoder.preprocess = "unit resize=8x8 crop=none";
    options_.load.encoder.cache = (folder_ / "cache").string();
    options_.load.threads = 2;
    inputs_ = {(folder_ / "photos").string()};
  }

  ScratchFolder folder_;
  LearnMetricOptions options_;
  std::vector<std::string> inputs_;
};

TEST_F(LearnMetricOfPhotos, WithLabels) {
  const BackboneMetric metric = learn_metric(inputs_, options_);
  EXPECT_EQ(metric.examples, 4U);
  EXPECT_EQ(metric.classes, 2U);
  EXPECT_EQ(metric.dimension, 5U);
  EXPECT_EQ(metric.network.at("backbone"), "any_size.onnx");
  EXPECT_EQ(metric.network.at("backbone_sha256").size(), 64U);
  EXPECT_FALSE(metric.network.at("preprocessing").empty());
}

TEST_F(LearnMetricOfPhotos, ByViewsThatTheSeedFixes) {
  options_.views = true;
  const BackboneMetric metric = learn_metric(inputs_, options_);
  EXPECT_EQ(metric.examples, 4U);
  EXPECT_EQ(metric.classes, 0U);
  EXPECT_TRUE(metric.views);
  options_.load.threads = 1;
  EXPECT_EQ(learn_metric(inputs_, options_).prior.metric, metric.prior.metric);
  options_.seed = 1;
  EXPECT_NE(learn_metric(inputs_, options_).prior.metric, metric.prior.metric);
}

TEST_F(LearnMetricOfPhotos, BrokenPhotosAreLeftOutUnlessStrict) {
  options_.views = true;
  std::vector<std::string> notes;
  options_.load.note = [&](const std::string& note) { notes.push_back(note); };
  folder_.write("photos/a/broken.jpg", "no photo");
  EXPECT_EQ(learn_metric(inputs_, options_).examples, 4U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("broken.jpg"), std::string::npos);
  options_.load.encoder.strict = true;
  expect_error(ErrorKind::kFormat, "broken.jpg", [&] { learn_metric(inputs_, options_); });
}

TEST_F(LearnMetricOfPhotos, FeaturesOfAnotherDimensionAreRejected) {
  inputs_.push_back(write_set(folder_, "other", 16));
  expect_error(ErrorKind::kInput, "expected features of 5 dimensions as any_size.onnx gives, found 16",
               [&] { learn_metric(inputs_, options_); });
}

}  // namespace
}  // namespace annulus
