// Frames of videos, boxes in photos and groups from the command line: encoded, kept together, predicted together.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "annulus/vision/video/video_type.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Videos : public NeedsOnnxRuntime {
 protected:
  Outcome run(std::vector<std::string> arguments) {
    const std::string backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
    for (const std::string& word :
         {std::string("--backbone"), backbone, std::string("--cache"), scratch_ / "cache", std::string("-q")}) {
      arguments.push_back(word);
    }
    return run_annulus(scratch_, std::move(arguments));
  }

  // Two videos a class, of six frames each half a second.
  std::string make_clips() {
    for (const auto& [from, to] : std::map<std::string, std::string>{{"scenes.mp4", "a/1.mp4"},
                                                                     {"scenes.mkv", "a/2.mkv"},
                                                                     {"scenes.webm", "b/1.webm"},
                                                                     {"turned.mov", "b/2.mov"}}) {
      fs::create_directories((fs::path(scratch_ / "clips") / to).parent_path());
      fs::copy_file(fs::path(ANNULUS_TEST_DATA) / "videos" / from, fs::path(scratch_ / "clips") / to);
    }
    return scratch_ / "clips";
  }

  // {path: {class: probability}}
  std::map<std::string, std::map<std::string, double>> predicted(std::vector<std::string> arguments) {
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::map<std::string, std::map<std::string, double>> found;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const Json prediction = Json::parse(line);
      for (const Json& each : prediction["top"]) found[prediction["path"]][each["label"]] = each["probability"];
    }
    return found;
  }

  Scratch scratch_;
};

TEST_F(Videos, FramesStayTogetherAndAgree) {
  if (!reads_videos()) GTEST_SKIP() << "this build reads no videos";
  const std::string clips = make_clips();
  const std::vector<std::string> recipe = {"--preprocess", "unit resize=8x8 crop=none"};
  const std::string features = scratch_ / "frames.safetensors";
  ASSERT_EQ(run({"extract", clips, "--every", "0.5", recipe[0], recipe[1], "-o", features}).exit_code, 0);
  const FeatureSet set = read_features(features);
  ASSERT_EQ(set.rows(), 24U);
  EXPECT_TRUE(set.paths()[1].ends_with("a/1.mp4#t=0.5")) << set.paths()[1];
  for (std::size_t row = 0; row < set.rows(); ++row) EXPECT_EQ(set.groups()[row], static_cast<int>(row / 6)) << row;

  // One shot is one video of each class, and the others are all that is tested.
  const Outcome evaluated = run_annulus(
      scratch_, {"evaluate", features, "--shots", "1", "--methods", "ncm", "--subsets", "1", "--json", "-q"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const Json counted = Json::parse(evaluated.out)["results"][0]["runs"][0];
  EXPECT_EQ(counted["support_examples"], 12);
  EXPECT_EQ(counted["query_examples"], 12);

  const std::string model = scratch_ / "model.safetensors";
  ASSERT_EQ(run_annulus(scratch_, {"fit", features, "--no-calibrate", "-q", "-o", model}).exit_code, 0);
  const std::string clip = clips + "/a/1.mp4";
  const std::vector<std::string> frames = {"predict", model, clip, "--every", "0.5", "--top", "2", "--format", "jsonl"};
  const auto alone = predicted(frames);
  ASSERT_EQ(alone.size(), 6U);
  std::vector<std::string> asked = frames;
  asked.insert(asked.end(), {"--consensus", "3"});
  const auto together = predicted(asked);
  ASSERT_EQ(together.size(), 6U);
  EXPECT_NE(together, alone);
  std::map<std::string, double> mean;
  double sum = 0;
  for (const char* const label : {"a", "b"}) {
    double logarithms = 0;
    for (const char* const moment : {"#t=0.5", "#t=1", "#t=1.5"}) {
      logarithms += std::log(alone.at(clip + moment).at(label));
    }
    mean[label] = std::exp(logarithms / 3);
    sum += mean[label];
  }
  for (const char* const label : {"a", "b"}) {
    EXPECT_NEAR(together.at(clip + "#t=1").at(label), mean[label] / sum, 1e-5) << label;
  }
  EXPECT_EQ(predicted({"predict", model, clip + "#t=1.5", "--top", "2", "--format", "jsonl"}).at(clip + "#t=1.5"),
            alone.at(clip + "#t=1.5"));
  asked.back() = "2";
  const Outcome even = run(asked);
  EXPECT_EQ(even.exit_code, 2);
  EXPECT_NE(even.err.find("expected --consensus to be an odd number of frames, found 2"), std::string::npos)
      << even.err;

  // Frames of a video resemble each other, which is no finding.
  const Outcome audited = run({"audit", clips, "--every", "0.5", recipe[0], recipe[1], "--json", "-"});
  ASSERT_EQ(audited.exit_code, 0) << audited.err;
  EXPECT_EQ(Json::parse(audited.out)["examples"], 24);
  const Outcome scored = run({"score", model, clips, "--every", "0.5", "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(Json::parse(scored.out)["examples"], 24);
}

TEST_F(Videos, BoxesAreLearntAndPredictedOneByOne) {
  const fs::path folder = scratch_ / "photos";
  fs::create_directories(folder);
  fs::copy_file(fs::path(ANNULUS_TEST_DATA) / "images/jpeg_320x257.jpg", folder / "garden.jpg");
  fs::copy_file(fs::path(ANNULUS_TEST_DATA) / "images/jpeg_256x320_no_resize.jpg", folder / "pond.jpg");
  std::ofstream(folder / "annotations.json") << R"({
    "images": [{"id": 1, "file_name": "garden.jpg"}, {"id": 2, "file_name": "pond.jpg"}],
    "annotations": [{"image_id": 1, "category_id": 1, "bbox": [20, 10, 100, 90]},
                    {"image_id": 1, "category_id": 2, "bbox": [150, 100, 90, 90]},
                    {"image_id": 2, "category_id": 1, "bbox": [20, 10, 100, 90]},
                    {"image_id": 2, "category_id": 2, "bbox": [100, 100, 90, 90]}],
    "categories": [{"id": 1, "name": "robin"}, {"id": 2, "name": "wren"}]})";
  std::ofstream(scratch_ / "found.json") << R"({"images": [
    {"file": "garden.jpg", "detections": [{"category": "1", "conf": 0.9, "bbox": [0.1, 0.2, 0.4, 0.4]},
                                          {"category": "1", "conf": 0.1, "bbox": [0, 0, 0.4, 0.4]},
                                          {"category": "2", "conf": 0.9, "bbox": [0, 0, 0.4, 0.4]}]},
    {"file": "pond.jpg", "detections": [{"category": "1", "conf": 0.8, "bbox": [0.5, 0.5, 0.25, 0.5]}]}],
    "detection_categories": {"1": "animal", "2": "person", "3": "vehicle"}})";
  const std::string model = scratch_ / "model.safetensors";
  const Outcome fitted = run({"fit", (folder / "annotations.json").string(), "--preprocess",
                              "unit resize=8x8 crop=none", "--crop-margin", "0.1", "--no-calibrate", "-o", model});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const std::string boxes = scratch_ / "found.json";
  const Outcome outcome = run({"predict", model, folder.string(), "--boxes", boxes, "--format", "jsonl"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::vector<Json> found;
  for (std::string line; std::getline(lines, line);) found.push_back(Json::parse(line));
  ASSERT_EQ(found.size(), 2U) << outcome.out;
  EXPECT_EQ(found[0]["path"], (folder / "garden.jpg").string() + "#xywh=percent:10,20,40,40");
  EXPECT_EQ(found[0]["file"], (folder / "garden.jpg").string());
  EXPECT_EQ(found[1]["box"]["unit"], "percent");
  EXPECT_EQ(found[1]["box"]["height"], 50.0);
  const Outcome unsure =
      run({"predict", model, folder.string(), "--boxes", boxes, "--box-confidence", "0.05", "--format", "jsonl"});
  EXPECT_EQ(std::count(unsure.out.begin(), unsure.out.end(), '\n'), 3) << unsure.out;
  const Outcome wider = run({"predict", model, folder.string(), "--boxes", boxes, "--crop-margin", "0.5"});
  EXPECT_EQ(wider.exit_code, 3);
  EXPECT_NE(wider.err.find("margin=0.1"), std::string::npos) << wider.err;
}

TEST_F(Videos, AGroupOfTheMetadataIsKeptTogether) {
  const fs::path folder = scratch_ / "photos";
  fs::create_directories(folder);
  std::string grouped = "file_name,label,group\n";
  std::string single = "file_name,label\n";
  // Three photos of each of two sites a class; the first two of a site are copies.
  const std::vector<std::string> kinds = {"jpeg_420.jpg", "jpeg_97x61.jpg",  "jpeg_320x257.jpg", "png_rgb_8.png",
                                          "exif_6.jpg",   "webp_lossy.webp", "jpeg_grey.jpg",    "jpeg_300x17.jpg"};
  for (std::size_t i = 0; i < 12; ++i) {
    const std::size_t site = i / 3;
    const std::string& kind = kinds[2 * site + (i % 3 == 2 ? 1 : 0)];
    const std::string name = std::to_string(i) + "_" + kind;
    fs::copy_file(fs::path(ANNULUS_TEST_DATA) / "images" / kind, folder / name);
    const std::string line = name + (site < 2 ? ",owl" : ",wren");
    single += line + "\n";
    grouped += line + ",site" + std::to_string(site) + "\n";
  }
  const std::string recipe = "unit resize=8x8 crop=none";
  const auto findings = [&](const std::string& metadata) {
    std::ofstream(folder / "metadata.csv") << metadata;
    const Outcome audited = run({"audit", folder.string(), "--preprocess", recipe, "--json", "-"});
    EXPECT_EQ(audited.exit_code, 0) << audited.err;
    return Json::parse(audited.out)["counts"]["duplicate"].get<int>();
  };
  EXPECT_GE(findings(single), 4);
  EXPECT_EQ(findings(grouped), 0);
  const Outcome evaluated = run({"evaluate", folder.string(), "--preprocess", recipe, "--shots", "1", "--methods",
                                 "ncm", "--subsets", "1", "--json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const Json counted = Json::parse(evaluated.out)["results"][0]["runs"][0];
  EXPECT_EQ(counted["support_examples"], 6) << "a site of each class";
  EXPECT_EQ(counted["query_examples"], 6);
}

}  // namespace
}  // namespace annulus
