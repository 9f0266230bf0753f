// Exports of a project: an ONNX file with the backbone, and the report with pictures.
#include "studio_engine/exports.h"

#include <gtest/gtest.h>

#include <optional>

#include "studio_engine/feature_queue.h"
#include "tests/fixtures/fake_web_runtime.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/tiny_studio.h"

namespace annulus::studio {
namespace {

class ExportsTest : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    project_.emplace(tiny_project(folder_));
    project_->change([](Project& there) {
      add_photos(there, "red", kRed, {1, 2, 3, 4});
      add_photos(there, "green", kGreen, {1, 2, 3, 4});
    });
    features_.emplace(*project_, folder_ / "cache", 1);
    project_->read([&](const Project& there) { features_->follow(there.state()); });
    features_->open({});
    encode_all(*features_);
  }

  ScratchFolder folder_;
  std::optional<SharedProject> project_;
  std::optional<FeatureQueue> features_;
};

TEST_F(ExportsTest, OnnxFilesTakePixels) {
  ModelTrainer trainer(folder_ / "model.safetensors", 1);
  trainer.fit(features_->snapshot(), {});
  const std::string bytes = onnx_export(trainer.model()->model, *features_->encoder(), folder_ / "project/exports");
  EXPECT_EQ(bytes, content_of(folder_ / "project/exports/model.onnx"));
  EXPECT_NE(bytes.find("pixel_values"), std::string::npos);
  EXPECT_NE(bytes.find("probabilities"), std::string::npos);
}

TEST_F(ExportsTest, PagesAreArchives) {
  ModelTrainer trainer(folder_ / "model.safetensors", 1);
  trainer.fit(features_->snapshot(), {});
  const FakeWebRuntime runtime(folder_);
  const WebPage page(trainer.model()->model, *features_->encoder(), {.title = "red and green"});
  for (int time = 0; time < 2; ++time) {  // the second replaces the first
    const std::string bytes = web_export(page, "red and green", folder_ / "project/exports");
    EXPECT_TRUE(bytes.starts_with("PK"));
    EXPECT_NE(bytes.find("red and green/service_worker.js"), std::string::npos);
    EXPECT_EQ(bytes, content_of(folder_ / "project/exports/page.zip"));
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "project/exports/page/index.html"));
}

TEST_F(ExportsTest, ReportsHavePicturesOfPhotos) {
  const TrainingSnapshot snapshot = features_->snapshot();
  Findings findings;
  findings.audit.counts.assign(kFindingKinds, 0);
  findings.audit.counts[static_cast<std::size_t>(FindingKind::kMislabelled)] = 1;
  AuditFinding finding;
  finding.rank = 1;
  finding.row = 0;
  finding.path = snapshot.data.paths[0];
  finding.class_name = "green";
  finding.other_class = "red";
  findings.audit.findings.push_back(finding);
  Thumbnails thumbnails(*project_);
  const std::string page = report_export(findings, thumbnails);
  EXPECT_TRUE(page.starts_with("<!"));
  EXPECT_NE(page.find("data:image/webp;base64,"), std::string::npos);
  EXPECT_NE(page.find("green"), std::string::npos);
}

}  // namespace
}  // namespace annulus::studio
