// Pages of models: every file is there, the sizes told beforehand are true, and no folder of somebody else is replaced.
#include "annulus/pipeline/export/export_web.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "annulus/pipeline/export/web_files.h"
#include "annulus/vision/backbone/onnx_session.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/fake_web_runtime.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

class ExportWeb : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    EncoderOptions options;
    options.backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
    options.preprocess = "imagenet resize=19x17 crop=8x9 interpolation=bilinear exif=ignore";
    encoder_ = open_encoder(options, {});
    model_.head = initial_head<float>(HeadKind::kCosine, 3, encoder_.dimension(), 7, 0);
    model_.class_names = {"a", "b \"quoted\" </script>", "ç"};
    model_.provenance = feature_provenance(encoder_);
  }

  // Scores at and above 0.1 i are above i % of those of known classes.
  void learn_rejection() {
    model_.unknown.weights = {1.0F};
    for (std::size_t i = 0; i < kUnknownQuantiles; ++i)
      model_.unknown.quantiles.push_back(0.1F * static_cast<float>(i));
  }

  nlohmann::json settings() const { return nlohmann::json::parse(content_of(folder_ / "page/annulus.json")); }

  const ScratchFolder folder_;
  const FakeWebRuntime runtime_{folder_};
  Encoder encoder_;
  Model model_;
};

TEST_F(ExportWeb, WritesAllFilesOfTheSizesThatItTold) {
  const WebPage page(model_, encoder_, {.title = "Birds & <bees>"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "page"));
  const OnnxExportReport report = page.write(folder_ / "page");
  EXPECT_TRUE(report.checked);
  EXPECT_GT(report.images, 0U);
  std::set<std::string> found;
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "page")) {
    found.insert(entry.path().filename().string());
    bytes += entry.file_size();
  }
  EXPECT_EQ(found.size(), page.size().files);
  EXPECT_EQ(bytes, page.size().bytes);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "page/model.onnx"), page.size().model_bytes);
  EXPECT_GE(web_files().size(), 10U);
  for (const WebFile& file : web_files()) EXPECT_TRUE(found.contains(std::string(file.name))) << file.name;
  const auto json = settings();
  EXPECT_EQ(json["files"].get<std::set<std::string>>(), found);
  const std::string html = content_of(folder_ / "page/index.html");
  EXPECT_NE(html.find("<title>Birds &amp; &lt;bees&gt;</title>"), std::string::npos);
  EXPECT_EQ(html.find("{{"), std::string::npos);
  EXPECT_NE(content_of(folder_ / "page/card.md").find("# Birds"), std::string::npos);
}

TEST_F(ExportWeb, TellsThePageWhatItNeeds) {
  learn_rejection();
  WebPage(model_, encoder_, {.title = "t", .false_reject = 0.2}).write(folder_ / "page");
  const auto json = settings();
  EXPECT_EQ(json["classes"].get<std::vector<std::string>>(), model_.class_names);
  EXPECT_EQ(json["model_bytes"], std::filesystem::file_size(folder_ / "page/model.onnx"));
  EXPECT_EQ(json["batch"], 1);
  EXPECT_NEAR(json["unknown_threshold"].get<double>(), 2.0, 1e-6);
  EXPECT_TRUE(json["catch_rate"].is_null());
  const nlohmann::json recipe = {{"resize", "exact"}, {"resize_width", 19}, {"resize_height", 17},
                                 {"crop_width", 8},   {"crop_height", 9},   {"interpolation", "bilinear"},
                                 {"exif", false}};
  EXPECT_EQ(json["preprocess"], recipe);
  const OnnxSession session(folder_ / "page/model.onnx");
  EXPECT_EQ(session.inputs().front().shape, (std::vector<std::int64_t>{-1, 3, 9, 8}));
  // A model without a rule never rejects.
  model_.unknown = {};
  WebPage(model_, encoder_, {.title = "t"}).write(folder_ / "page");
  EXPECT_TRUE(settings()["unknown_threshold"].is_null());
}

// Browsers that kept a page take another one when its service worker changes, and only then.
TEST_F(ExportWeb, NamesItsVersionByWhatIsInIt) {
  const auto version_of = [&](const std::string& title) {
    WebPage(model_, encoder_, {.title = title}).write(folder_ / "page");
    return content_of(folder_ / "page/service_worker.js").substr(0, 40);
  };
  const std::string first = version_of("Birds");
  EXPECT_TRUE(first.starts_with("const VERSION = \"")) << first;
  EXPECT_EQ(version_of("Birds"), first);
  EXPECT_NE(version_of("Bees"), first);
  const std::string bees = version_of("Bees");
  model_.head.gain.front() *= 1.5F;
  EXPECT_NE(version_of("Bees"), bees);
  const std::string worker = content_of(folder_ / "page/service_worker.js");
  for (const char* name : {"\"./\"", "\"model.onnx\"", "\"ort-wasm-simd-threaded.wasm\"", "\"annulus.json\""}) {
    EXPECT_NE(worker.find(name), std::string::npos) << name;
  }
}

TEST_F(ExportWeb, ReplacesPagesAndNothingElse) {
  const WebPage page(model_, encoder_, {.title = "t"});
  page.write(folder_ / "page/");
  page.write(folder_ / "page");
  folder_.write("page/CNAME", "birds.example.org");
  expect_error(ErrorKind::kIo, "found CNAME", [&] { page.write(folder_ / "page"); });
  EXPECT_EQ(content_of(folder_ / "page/CNAME"), "birds.example.org");
  std::filesystem::create_directory(folder_ / "photos");
  page.write(folder_ / "photos");  // empty
  std::filesystem::create_directory(folder_ / "own");
  folder_.write("own/index.html", "mine");
  expect_error(ErrorKind::kIo, "name another folder", [&] { check_web_folder(folder_ / "own"); });
  folder_.write("own/annulus.json", "[1]");
  expect_error(ErrorKind::kIo, "name another folder", [&] { check_web_folder(folder_ / "own"); });
  folder_.write("file", "");
  expect_error(ErrorKind::kIo, "the name of a folder", [&] { check_web_folder(folder_ / "file"); });
  EXPECT_NO_THROW(check_web_folder(folder_ / "none"));
}

TEST_F(ExportWeb, SaysWhatIsMissing) {
  runtime_.set_script("echo 'fetch: npm could not download it; is the network up?' >&2; exit 1");
  expect_error(ErrorKind::kIo, "downloaded once: fetch: npm could not download it",
               [&] { const WebPage page(model_, encoder_, {.title = "t"}); });
  encoder_.parts.front().recipe.to_srgb = true;
  expect_error(ErrorKind::kInput, "colour profiles (", [&] { const WebPage page(model_, encoder_, {.title = "t"}); });
  encoder_.parts.front().recipe.to_srgb = false;
  encoder_.views.others = ViewKind::kRandom;
  encoder_.views.count = 3;
  expect_error(ErrorKind::kInput, "random views", [&] { const WebPage page(model_, encoder_, {.title = "t"}); });
}

}  // namespace
}  // namespace annulus
