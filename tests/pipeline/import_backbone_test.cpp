// Imported networks give PyTorch's features. The cases are those of scripts/make_import_fixtures.py: the small ones in
// tests/data/import, or those in the folder that ANNULUS_IMPORT_FIXTURES names (scripts/check-import-parity).
#include "annulus/pipeline/import_backbone.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "annulus/base/error.h"
#include "annulus/base/matrix.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/backbone/onnxruntime.h"

namespace annulus {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

fs::path fixtures() {
  const char* chosen = std::getenv("ANNULUS_IMPORT_FIXTURES");
  return chosen != nullptr ? fs::path(chosen) : fs::path(ANNULUS_TEST_DATA) / "import";
}

Json read_cases(const fs::path& folder) {
  std::ifstream stream(folder / "cases.json");
  return Json::parse(stream);
}

Json small_case(const std::string& name) {
  for (const Json& found : read_cases(fs::path(ANNULUS_TEST_DATA) / "import")) {
    if (found.at("name") == name) return found;
  }
  ADD_FAILURE() << "no fixture " << name;
  return {};
}

ImportOptions options_of(const Json& test) {
  ImportOptions options;
  options.arch = test.at("arch").get<std::string>();
  options.image_size = test.at("options").value("image_size", 0);
  options.allow_inert_objects = test.at("options").value("allow_inert_objects", false);
  options.feature = parse_token_feature(test.at("options").value("feature", ""));
  return options;
}

// A folder of its own for every test, gone afterwards.
class ImportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("annulus_import_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path target() const { return folder_ / "net.onnx"; }
  ImportReport import(const Json& test, const ImportOptions& options) const {
    return import_checkpoint(fs::path(ANNULUS_TEST_DATA) / "import" / test.at("file").get<std::string>(), options,
                             target());
  }
  std::string error_of(const std::string& name, const ImportOptions& options, ErrorKind kind) const {
    try {
      import(small_case(name), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_FALSE(fs::exists(target()));
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

// max |found - expected| / max |expected|
double relative_error(const Matrix<float>& found, const Json& expected) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < found.rows(); ++i) {
    for (std::size_t j = 0; j < found.cols(); ++j) {
      const auto value = expected.at(i).at(j).get<double>();
      difference = std::max(difference, std::abs(static_cast<double>(found(i, j)) - value));
      largest = std::max(largest, std::abs(value));
      if (!std::isfinite(found(i, j))) return std::numeric_limits<double>::infinity();
    }
  }
  return difference / largest;
}

double error_of_output(const fs::path& file, const Json& test, const std::string& output) {
  BackboneOptions options;
  options.output = output;
  const Backbone backbone(file, options);
  const Json& expected = test.at(output);
  const auto side = test.at("image").get<std::size_t>();
  if (backbone.dimension() != expected.at(0).size()) return std::numeric_limits<double>::infinity();
  Matrix<float> images(expected.size(), 3 * side * side);
  for (std::size_t i = 0; i < images.rows() * images.cols(); ++i) {
    images.data()[i] = static_cast<float>(static_cast<double>(7919 * i % 1000) / 500 - 1);
  }
  Matrix<float> rows(expected.size(), backbone.dimension());
  backbone.run(images.view(), side, side, rows.view());
  return relative_error(rows, expected);
}

class ImportParity : public ImportTest {
 protected:
  void SetUp() override {
    ImportTest::SetUp();
    if (!built_with_vision()) GTEST_SKIP() << "built without image support";
    try {
      onnxruntime();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(ImportParity, EveryLayoutGivesTheFeaturesOfPyTorch) {
  constexpr double kTolerance = 1e-4;
  const Json cases = read_cases(fixtures());
  ASSERT_FALSE(cases.empty());
  for (const Json& test : cases) {
    SCOPED_TRACE(test.at("name").get<std::string>());
    const ImportReport report =
        import_checkpoint(fixtures() / test.at("file").get<std::string>(), options_of(test), target());
    EXPECT_NE(report.layout.find(test.at("layout").get<std::string>()), std::string::npos) << report.layout;
    const double error = error_of_output(target(), test, "features");
    RecordProperty(test.at("name").get<std::string>(), fmt::format("{:.1e}", error));
    EXPECT_LE(error, kTolerance);
    if (test.contains("logits")) {
      EXPECT_LE(error_of_output(target(), test, "logits"), kTolerance);
    }
  }
}

TEST_F(ImportParity, TheStudentIsTakenWhenAskedFor) {
  const Json test = small_case("dino_training");
  ImportOptions options = options_of(test);
  options.within = "student";
  const ImportReport report = import(test, options);
  EXPECT_NE(report.layout.find("student.module.backbone."), std::string::npos) << report.layout;
  EXPECT_GT(error_of_output(target(), test, "features"), 1e-2);
}

TEST_F(ImportParity, TheFileTellsHowToPrepareImages) {
  import(small_case("dino_plain"), options_of(small_case("dino_plain")));
  const Backbone backbone(target());
  EXPECT_EQ(backbone.preprocessing(), "imagenet resize=shorter:37 crop=32x32");
  EXPECT_EQ(backbone.height(), 32U);
}

TEST_F(ImportTest, ReportsWhatWasTakenAndLeft) {
  const Json training = small_case("dino_training");
  const ImportReport report = import(training, options_of(training));
  EXPECT_EQ(report.layout, "DINO training file, tensors under teacher.backbone.");
  EXPECT_EQ(report.tensors_used, 30U);  // 6 outside the blocks, 12 in each of two
  EXPECT_EQ(report.dropped, (std::vector<std::string>{"optimizer.* (2 tensors)", "student.* (32 tensors)"}));
  EXPECT_EQ(report.notes, (std::vector<std::string>{"another encoder lies under student.module.backbone."}));
  EXPECT_EQ(report.source_sha256.size(), 64U);

  const Json resized = small_case("msn_resized");
  const ImportReport msn = import(resized, options_of(resized));
  EXPECT_EQ(msn.notes.front(), "position table resized from 7x7 to 4x4");
  EXPECT_EQ(msn.dropped.front(), "target_encoder.module.fc.fc1.bias");
}

TEST_F(ImportTest, EveryCaseIsInTheTableOfParity) {
  std::ifstream stream(fs::path(ANNULUS_TEST_DATA).parent_path().parent_path() / "docs/reference/importers.md");
  const std::string page((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  for (const Json& test : read_cases(fs::path(ANNULUS_TEST_DATA) / "import")) {
    EXPECT_NE(page.find(fmt::format("| `{}` |", test.at("name").get<std::string>())), std::string::npos)
        << test.at("name") << ": run scripts/build-import-table";
  }
}

TEST_F(ImportTest, FeaturesAreRecordedOrRejected) {
  const Json both = small_case("dinov2_both");
  EXPECT_EQ(import(both, options_of(both)).feature, "class token and mean of patch tokens");
  EXPECT_EQ(import(small_case("dino_plain"), options_of(small_case("dino_plain"))).feature, "class token");
  const Json siglip = small_case("siglip_transformers");
  EXPECT_EQ(import(siglip, options_of(siglip)).feature, "pooled by attention");
  EXPECT_EQ(import(small_case("convnext"), options_of(small_case("convnext"))).feature, "");
  fs::remove(target());
  for (const char* name : {"torchvision", "convnext", "mobilenetv4", "clip_resnet", "tfjs_layers"}) {
    ImportOptions options = options_of(small_case(name));
    options.feature = TokenFeature::kMean;
    EXPECT_NE(error_of(name, options, ErrorKind::kUsage).find("has only one feature"), std::string::npos) << name;
  }
}

TEST_F(ImportTest, TheTextTowerIsLeftOut) {
  const Json test = small_case("clip_script");
  const ImportReport report = import(test, options_of(test));
  EXPECT_EQ(report.layout, "CLIP, names of OpenAI, tensors under visual.");
  EXPECT_EQ(report.tensors_used, 32U);  // 8 outside the blocks, 12 in each of two
  for (const std::string& name : report.dropped) EXPECT_EQ(name.find("visual"), std::string::npos) << name;
}

TEST_F(ImportTest, PresetsFollowTheLayout) {
  const auto recipe = [&](const std::string& name) {
    return import(small_case(name), options_of(small_case(name))).preprocess;
  };
  EXPECT_EQ(recipe("meta_baseline"), "episode-32");
  EXPECT_EQ(recipe("clip_script"), "clip resize=shorter:32 crop=32x32");
  EXPECT_EQ(recipe("clip_resnet"), "clip resize=shorter:64 crop=64x64");
  EXPECT_EQ(recipe("siglip_timm"), "signed resize=32x32 crop=none");
  EXPECT_EQ(recipe("dinov3"), "imagenet resize=shorter:37 crop=32x32");
  EXPECT_EQ(recipe("mobilenetv4"), "imagenet resize=shorter:73 crop=64x64");
  EXPECT_EQ(recipe("tfjs_layers"), "keras-caffe resize=shorter:37 crop=32x32");
  EXPECT_EQ(recipe("tfjs_graph"), "unit resize=shorter:34 crop=30x30");
  ImportOptions options = options_of(small_case("tfjs_graph"));
  options.preprocess = "signed";
  EXPECT_EQ(import(small_case("tfjs_graph"), options).preprocess, "signed");
}

TEST_F(ImportTest, ForeignObjectsAreRejectedByName) {
  ImportOptions options = options_of(small_case("dino_training"));
  options.allow_inert_objects = false;
  const std::string message = error_of("dino_training", options, ErrorKind::kFormat);
  EXPECT_NE(message.find("argparse.Namespace"), std::string::npos) << message;
}

TEST_F(ImportTest, AWrongArchitectureNamesTheTensorAndBothShapes) {
  ImportOptions options;
  options.arch = "vit:width=8,depth=2,heads=2,patch=4,image=32";
  EXPECT_NE(error_of("dino_plain", options, ErrorKind::kInput)
                .find("expected tensor patch_embed.proj.weight of shape [8, 3, 4, 4], found [8, 3, 8, 8]"),
            std::string::npos);
  options.arch = "vit:width=8,depth=3,heads=2,patch=8,image=32";
  EXPECT_NE(error_of("dino_plain", options, ErrorKind::kInput)
                .find("expected tensor blocks.2.norm1.weight of shape [8], found none"),
            std::string::npos);
  options.arch = "vit:width=8,depth=1,heads=2,patch=8,image=32";
  EXPECT_NE(error_of("dino_plain", options, ErrorKind::kInput).find("has no place for"), std::string::npos);
  options.arch = "resnet50";
  EXPECT_NE(error_of("dino_plain", options, ErrorKind::kInput).find("layer1.0.conv1.weight; found none"),
            std::string::npos);
  options.arch = "resnet:block=basic,blocks=1-2-1-1,width=4";
  EXPECT_NE(
      error_of("torchvision", options, ErrorKind::kInput).find("expected tensor conv1.weight of shape [4, 3, 7, 7]"),
      std::string::npos);
  options.arch = "clip:width=8,depth=2,heads=2,patch=8,image=32";
  EXPECT_NE(error_of("dino_plain", options, ErrorKind::kInput).find("ln_pre.weight; found none"), std::string::npos);
  options.arch = "convnext:blocks=1-1-3-1,width=2";
  EXPECT_NE(error_of("convnext_timm", options, ErrorKind::kInput).find("expected tensor stages.2.blocks.2."),
            std::string::npos);
  options.arch = "convnext:blocks=1-1-1-1,width=2";
  EXPECT_NE(error_of("convnext_timm", options, ErrorKind::kInput).find("has no place for"), std::string::npos);
  options.arch = "vit-huge";
  error_of("dino_plain", options, ErrorKind::kUsage);
}

TEST_F(ImportTest, ImpossibleOptionsAreRejected) {
  ImportOptions options = options_of(small_case("dino_plain"));
  options.image_size = -1;
  error_of("dino_plain", options, ErrorKind::kUsage);
  options.image_size = 4;
  EXPECT_NE(error_of("dino_plain", options, ErrorKind::kUsage).find("smaller than one patch"), std::string::npos);
  options.image_size = 0;
  options.within = "nowhere";
  EXPECT_NE(error_of("dino_plain", options, ErrorKind::kInput).find("nowhere"), std::string::npos);
}

TEST_F(ImportTest, AMissingShardIsNamed) {
  const fs::path copy = folder_ / "model";
  fs::copy(fs::path(ANNULUS_TEST_DATA) / "import" / "tfjs_layers", copy);
  fs::remove(copy / "group1-shard2of3.bin");
  try {
    import_checkpoint(copy, {}, target());
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_NE(std::string(error.what()).find("group1-shard2of3.bin"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace annulus
