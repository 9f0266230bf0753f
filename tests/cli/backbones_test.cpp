// backbones learn-metric, and fits that use the metric kept for their network.
#include <optional>

#include "annulus/store/models/metric_file.h"
#include "annulus/store/models/model_file.h"
#include "tests/fixtures/image_fixtures.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/own_cache.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

TEST(Backbones, AMetricOfFeaturesAloneIsAFile) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string file = scratch / "metric.safetensors";
  expect_complaint(run_annulus(scratch, {"backbones", "learn-metric", "-", features}), 2, "expected --output");
  const Outcome outcome = run_annulus(scratch, {"backbones", "learn-metric", "-", features, "-o", file, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["checksum"], read_metric(std::filesystem::path(file)).prior.checksum);
  EXPECT_EQ(json["examples"], 36);
  EXPECT_EQ(json["classes"], 6);

  const std::string model = scratch / "model.safetensors";
  const auto fit = [&](const std::string& metric, const std::string& shots) {
    return run_annulus(scratch, quickly({"fit", features, "--shots", shots, "--metric", metric, "-o", model}));
  };
  const Outcome used = fit(file, "1");
  ASSERT_EQ(used.exit_code, 0) << used.err;
  EXPECT_NE(used.out.find("metric of the backbone (" + json["checksum"].get<std::string>().substr(0, 12) + ") used"),
            std::string::npos)
      << used.out;
  EXPECT_EQ(read_model(std::filesystem::path(model)).provenance.at("metric_prior"), json["checksum"]);
  const std::string with = read_text(model);
  ASSERT_EQ(fit(file, "1").exit_code, 0);
  EXPECT_EQ(read_text(model), with);
  ASSERT_EQ(fit("data", "1").exit_code, 0);
  EXPECT_NE(read_text(model), with);
  EXPECT_FALSE(read_model(std::filesystem::path(model)).provenance.contains("metric_prior"));
  expect_complaint(fit("backbone", "1"), 3, "--metric");
  expect_complaint(fit(features, "1"), 4, "expected a metric file");

  SyntheticOptions other = small_data();
  other.dimension = 17;
  const std::string wider = write_small_features(scratch, other, "wider.safetensors");
  expect_complaint(run_annulus(scratch, {"evaluate", wider, "--metric", file, "--methods", "default", "-q"}), 3,
                   "expected a metric of 17 dimensions as the features have, found 16");
}

TEST(Backbones, ProtocolsTakeAMetric) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string file = scratch / "metric.safetensors";
  ASSERT_EQ(run_annulus(scratch, {"backbones", "learn-metric", "-", features, "-o", file, "-q"}).exit_code, 0);
  const std::string checksum = read_metric(std::filesystem::path(file)).prior.checksum;
  const Outcome evaluated = run_annulus(scratch, {"evaluate", features, "--shots", "1", "--subsets", "1", "--methods",
                                                  "default", "--metric", file, "--json", "-q"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_NE(evaluated.out.find(checksum), std::string::npos);
  const Outcome episodes =
      run_annulus(scratch, {"episodes", features, "--ways", "3", "--shots", "1", "--queries", "2", "--episodes", "3",
                            "--seeds", "1", "--methods", "default", "--metric", file, "-q"});
  EXPECT_EQ(episodes.exit_code, 0) << episodes.err;
  const Outcome ablated = run_annulus(scratch, {"ablate", features, "--what", "head", "--shots", "1", "--subsets", "1",
                                                "--metric", file, "--virtual", "4", "--epochs", "2", "-q"});
  EXPECT_EQ(ablated.exit_code, 0) << ablated.err;
  expect_complaint(run_annulus(scratch, {"reproduce", "table1", "--features", scratch / ".", "--metric", file}), 2,
                   "--metric");
}

class BackboneMetricOfPhotos : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    copy_photos_of_two_classes(scratch_.folder() / "photos");
    cache_.emplace(scratch_ / "cache");
  }

  Outcome learn(std::vector<std::string> more) const {
    std::vector<std::string> command{"backbones", "learn-metric", network_, scratch_ / "photos"};
    command.insert(command.end(), {"--preprocess", kRecipe, "--json"});
    command.insert(command.end(), more.begin(), more.end());
    return run_annulus(scratch_, command);
  }
  Outcome fit(std::vector<std::string> more, const std::string& preprocess = kRecipe) const {
    std::vector<std::string> command = quickly({"fit", scratch_ / "photos", "--backbone", network_, "--preprocess",
                                                preprocess, "-o", scratch_ / "model.safetensors", "--no-calibrate"});
    command.insert(command.end(), more.begin(), more.end());
    return run_annulus(scratch_, command);
  }

  static constexpr const char* kRecipe = "unit resize=8x8 crop=none";
  const std::string network_ = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  Scratch scratch_;
  std::optional<OwnCache> cache_;
};

TEST_F(BackboneMetricOfPhotos, IsKeptForTheNetworkAndUsedByLaterFits) {
  const Outcome before = fit({});
  ASSERT_EQ(before.exit_code, 0) << before.err;
  EXPECT_EQ(before.out.find("metric of the backbone"), std::string::npos);
  expect_complaint(fit({"--metric", "backbone"}), 3, "annulus backbones learn-metric");
  const Outcome learnt = learn({"--views"});
  ASSERT_EQ(learnt.exit_code, 0) << learnt.err;
  const auto json = nlohmann::json::parse(learnt.out);
  EXPECT_EQ(json["learnt_from"], "views");
  const std::string file = json["file"];
  EXPECT_TRUE(file.starts_with(scratch_ / "cache/backbones/")) << file;
  EXPECT_NE(file.find(json["network"]["backbone_sha256"].get<std::string>()), std::string::npos);
  EXPECT_NE(fit({}).out.find("metric of the backbone"), std::string::npos);
  EXPECT_NE(fit({"--metric", "backbone"}).out.find("metric of the backbone"), std::string::npos);
  EXPECT_EQ(fit({"--metric", "data"}).out.find("metric of the backbone"), std::string::npos);
  // Photos that are prepared otherwise have features of another kind.
  expect_complaint(fit({"--metric", "backbone"}, "unit resize=9x9 crop=none"), 3, "preprocessing");
  EXPECT_EQ(fit({}, "unit resize=9x9 crop=none").out.find("metric of"), std::string::npos);
  std::ofstream(file, std::ios::binary) << "broken";
  expect_complaint(fit({}), 4, ".metric.safetensors");
}

}  // namespace
}  // namespace annulus
