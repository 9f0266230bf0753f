// Features of image folders: the same bits whatever the threads, kills and caches; broken images left out by name.
#include "annulus/pipeline/extract.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/image/svg.h"
#include "annulus/vision/preprocess/preprocess.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/killed_child.h"
#include "tests/fixtures/needs_onnxruntime.h"

namespace annulus {
namespace {

constexpr std::size_t kImages = 160;
constexpr const char* kRecipe = "unit resize=8x8 crop=none";

std::filesystem::path model(const std::string& name) {
  return std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" / (name + ".onnx");
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Four classes of little pictures, no two alike.
void make_images(const std::filesystem::path& folder, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto file = folder / ("class" + std::to_string(i % 4)) / fmt::format("{:04}.png", i);
    std::filesystem::create_directories(file.parent_path());
    const std::string svg = fmt::format(
        R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="{}" y="{}" width="7" height="5" fill="rgb({},{},{})"/></svg>)svg",
        i % 9, i % 7, i % 256, i * 7 % 256, i * 31 % 256);
    const auto png = render_svg(svg, 16, "test picture");
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  }
}

class ExtractTest : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    folder_ =
        std::filesystem::temp_directory_path() / ("annulus_extract_" + std::to_string(::getpid()) + "_" +
                                                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    make_images(folder_ / "images", 40);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  ExtractReport run(const std::string& output, ExtractOptions options = {}, const ProgressCallback& progress = {},
                    const std::string& network = "vector") const {
    if (options.cache.empty()) options.cache = folder_ / "cache";
    return extract(list_images(folder_ / "images"), Backbone(model(network)), recipe_from_text(kRecipe), options,
                   folder_ / output, progress);
  }

  std::filesystem::path folder_;
};

TEST_F(ExtractTest, WritesWhatThePartsGiveOneByOne) {
  ExtractOptions options;
  options.type = FeatureType::kFloat32;
  options.backbone_name = "tiny";
  const ExtractReport report = run("f.safetensors", options);
  EXPECT_EQ(report.written, 40U);
  EXPECT_EQ(report.computed, 40U);
  EXPECT_EQ(report.broken, 0U);

  const FeatureSet set = read_features(folder_ / "f.safetensors");
  const ImageList list = list_images(folder_ / "images");
  ASSERT_EQ(set.rows(), 40U);
  EXPECT_EQ(set.classes(), 4U);
  EXPECT_EQ(set.provenance().at("backbone"), "tiny");
  EXPECT_EQ(set.provenance().at("preprocessing"), to_text(recipe_from_text(kRecipe)));
  const Backbone backbone(model("vector"));
  Matrix<float> rows(40, backbone.dimension());
  set.copy_rows(0, rows.view());
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(set.paths()[i], list.paths[i]);
    EXPECT_EQ(set.labels()[i], list.labels[i]);
    Matrix<float> prepared(1, 3 * 8 * 8);
    preprocess(read_image(list.paths[i]), recipe_from_text(kRecipe), prepared.row(0));
    Matrix<float> expected(1, backbone.dimension());
    backbone.run(prepared.view(), 8, 8, expected.view());
    EXPECT_EQ(std::memcmp(expected.data(), rows.row(i).data(), backbone.dimension() * sizeof(float)), 0) << i;
  }
  EXPECT_TRUE(check_provenance(set.provenance(), "f", backbone, recipe_from_text(kRecipe)));
}

TEST_F(ExtractTest, WhatTheSystemCannotReadIsAnErrorAndNoBadPhoto) {
  ImageList list = list_images(folder_ / "images");
  std::filesystem::create_symlink("loop.png", folder_ / "loop.png");
  const auto extract_with = [&](const std::string& path) {
    list.paths[3] = path;
    ExtractOptions options;
    options.cache = folder_ / "cache";
    return extract(list, Backbone(model("vector")), recipe_from_text(kRecipe), options, folder_ / "f.safetensors");
  };
  EXPECT_EQ(extract_with(folder_ / "gone.png").broken, 1U);
  EXPECT_EQ(extract_with(folder_ / "images").broken, 1U);
  std::filesystem::remove(folder_ / "f.safetensors");
  expect_error(ErrorKind::kIo, "loop.png: cannot be opened", [&] { extract_with(folder_ / "loop.png"); });
  EXPECT_FALSE(std::filesystem::exists(folder_ / "f.safetensors"));
}

TEST_F(ExtractTest, NeitherThreadsNorBatchesNorCachesChangeTheFile) {
  ExtractOptions one;
  one.threads = 1;
  run("f.safetensors", one);
  const std::string expected = content(folder_ / "f.safetensors");
  ASSERT_FALSE(expected.empty());
  ExtractOptions many;
  many.threads = 5;
  many.cache = folder_ / "other";
  run("f.safetensors", many);
  EXPECT_EQ(content(folder_ / "f.safetensors"), expected);
  const ExtractReport again = run("f.safetensors", one);
  EXPECT_EQ(again.computed, 0U);
  EXPECT_EQ(again.cached, 40U);
  EXPECT_EQ(content(folder_ / "f.safetensors"), expected);

  // A model of four images at once, and a list that does not fill its last batch.
  std::filesystem::remove(list_images(folder_ / "images").paths.back());
  one.type = FeatureType::kFloat32;
  run("one.safetensors", one);
  run("four.safetensors", one, {}, "fixed_four");
  const FeatureSet by_one = read_features(folder_ / "one.safetensors");
  const FeatureSet by_four = read_features(folder_ / "four.safetensors");
  ASSERT_EQ(by_four.rows(), 39U);
  Matrix<float> a(39, by_one.dimension());
  Matrix<float> b(39, by_four.dimension());
  by_one.copy_rows(0, a.view());
  by_four.copy_rows(0, b.view());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), 39 * by_one.dimension() * sizeof(float)), 0);
}

TEST_F(ExtractTest, BoxesAreExamplesOfTheirOwnInFileAndCache) {
  ImageList list = list_images(folder_ / "images");
  const std::string photo = list.paths[3];
  list.paths = {photo, photo + "#xywh=0,0,8,16", photo + "#xywh=percent:50,0,50,100", photo + "#xywh=90,0,8,16"};
  list.labels = {0, 0, 1, 1};
  ExtractOptions options;
  options.cache = folder_ / "cache";
  options.type = FeatureType::kFloat32;
  const Backbone backbone(model("vector"));
  const auto rows_of = [&](const std::string& recipe, std::size_t computed) {
    const ExtractReport report = extract(list, backbone, recipe_from_text(recipe), options, folder_ / "f.safetensors");
    EXPECT_EQ(report.computed, computed);
    EXPECT_EQ(report.broken, 1U);  // the box beside the picture
    EXPECT_NE(report.reasons.at(0).find("expected a box inside of the picture"), std::string::npos);
    const FeatureSet set = read_features(folder_ / "f.safetensors");
    EXPECT_EQ(set.paths()[2], list.paths[2]);
    Matrix<float> rows(3, backbone.dimension());
    set.copy_rows(0, rows.view());
    return rows;
  };
  const Matrix<float> rows = rows_of(kRecipe, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    Matrix<float> prepared(1, 3 * 8 * 8);
    preprocess(read_image(list.paths[i]), recipe_from_text(kRecipe), prepared.row(0));
    Matrix<float> expected(1, backbone.dimension());
    backbone.run(prepared.view(), 8, 8, expected.view());
    EXPECT_EQ(std::memcmp(expected.data(), rows.row(i).data(), backbone.dimension() * sizeof(float)), 0) << i;
  }
  rows_of(kRecipe, 0);
  // Another margin is another preprocessing, with a cache of its own; half a box more on each side is the whole photo.
  const Matrix<float> wide = rows_of(std::string(kRecipe) + " margin=1", 3);
  EXPECT_EQ(std::memcmp(wide.row(1).data(), rows.row(0).data(), backbone.dimension() * sizeof(float)), 0);
}

TEST_F(ExtractTest, BrokenImagesAreNamedAndLeftOut) {
  const ImageList list = list_images(folder_ / "images");
  std::ofstream(list.paths[3], std::ios::binary) << "no image at all";
  std::filesystem::resize_file(list.paths[17], 60);
  std::filesystem::remove(list.paths[30]);
  std::filesystem::create_directory(list.paths[30]);
  ExtractOptions options;
  options.cache = folder_ / "cache";
  const Backbone backbone(model("vector"));
  const ExtractReport report = extract(list, backbone, recipe_from_text(kRecipe), options, folder_ / "f.safetensors");
  EXPECT_EQ(report.written, 37U);
  ASSERT_EQ(report.broken, 3U);
  ASSERT_EQ(report.reasons.size(), 3U);
  EXPECT_NE(report.reasons[0].find(list.paths[3]), std::string::npos) << report.reasons[0];
  EXPECT_NE(report.reasons[1].find(list.paths[17]), std::string::npos) << report.reasons[1];
  EXPECT_NE(report.reasons[2].find(list.paths[30]), std::string::npos) << report.reasons[2];
  const FeatureSet set = read_features(folder_ / "f.safetensors");
  EXPECT_EQ(set.paths()[3], list.paths[4]);
  EXPECT_EQ(set.labels()[36], list.labels[39]);

  options.strict = true;
  EXPECT_THROW(extract(list, backbone, recipe_from_text(kRecipe), options, folder_ / "g.safetensors"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "g.safetensors"));
}

TEST_F(ExtractTest, NoUsableImageIsAnError) {
  ExtractOptions options;
  options.cache = folder_ / "cache";
  ImageList list;
  list.paths = {(folder_ / "nothing.png").string()};
  const Backbone backbone(model("vector"));
  const auto all = [&] { extract(list, backbone, recipe_from_text(kRecipe), options, folder_ / "f.safetensors"); };
  expect_error(ErrorKind::kIo, "nothing.png", all);  // what is wrong with the only image is what is wrong
  list.paths.push_back((folder_ / "nor_this.png").string());
  expect_error(ErrorKind::kInput, "none of 2 images could be used; the first: " + list.paths[0], all);
}

TEST_F(ExtractTest, StoppedByTheUserItGoesOnLater) {
  ExtractOptions options;
  options.threads = 1;
  try {
    run("f.safetensors", options, [](const Progress& progress) { return progress.done < 11; });
    FAIL() << "did not stop";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "f.safetensors"));
  const ExtractReport report = run("f.safetensors", options);
  EXPECT_EQ(report.cached, 11U);
  EXPECT_EQ(report.computed, 29U);
}

TEST_F(ExtractTest, DamagedCacheRowsAreComputedAgain) {
  run("f.safetensors");
  const std::string expected = content(folder_ / "f.safetensors");
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
    if (entry.path().extension() != ".rows") continue;
    std::fstream stream(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(5 * 5 * 4 + 1);
    stream.put('x');
  }
  const ExtractReport report = run("f.safetensors");
  EXPECT_EQ(report.computed, 1U);
  EXPECT_EQ(content(folder_ / "f.safetensors"), expected);
}

TEST_F(ExtractTest, ACacheThatFailsIsNoFaultOfTheImages) {
  ExtractOptions options;
  options.threads = 1;
  const auto cut_off_cache = [&](const Progress& progress) {
    if (progress.done != 5) return true;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
      if (entry.path().extension() == ".keys") std::filesystem::resize_file(entry.path(), 10);
    }
    return true;
  };
  expect_error(ErrorKind::kIo, "could not read the feature cache",
               [&] { run("f.safetensors", options, cut_off_cache); });
}

// Run by the next test in a process of its own.
TEST(ExtractChild, DISABLED_ExtractsSlowly) {
  const std::filesystem::path folder = std::getenv("ANNULUS_EXTRACT_TEST");
  ExtractOptions options;
  options.threads = 3;
  options.cache = folder / "cache";
  const auto pause = [](const Progress&) { return usleep(2000) == 0; };
  extract(list_images(folder / "images"), Backbone(model("vector")), recipe_from_text(kRecipe), options,
          folder / "f.safetensors", pause);
}

TEST_F(ExtractTest, KilledAgainAndAgainItLosesAndDoublesNothing) {
  make_images(folder_ / "images", kImages);
  ExtractOptions fresh;
  fresh.cache = folder_ / "untouched";
  run("f.safetensors", fresh);
  const std::string expected = content(folder_ / "f.safetensors");
  std::filesystem::remove(folder_ / "f.safetensors");

  setenv("ANNULUS_EXTRACT_TEST", folder_.c_str(), 1);
  for (const std::size_t enough : {1U, 9U, 30U, 31U, 70U, 110U, 150U}) {
    constexpr int kTries = 5;  // to kill it before it ends, where much is left to do
    for (int i = 0; i < kTries; ++i) {
      ASSERT_NO_FATAL_FAILURE(run_and_kill("ExtractChild.*", folder_ / "cache", enough));
      if (enough > 40 || !std::filesystem::exists(folder_ / "f.safetensors")) break;
      std::filesystem::remove(folder_ / "f.safetensors");
      std::filesystem::remove_all(folder_ / "cache");
    }
    ASSERT_GE(cached_rows(folder_ / "cache"), enough);
    if (enough < 40) {
      ASSERT_FALSE(std::filesystem::exists(folder_ / "f.safetensors"));
    }
  }
  const std::size_t kept = cached_rows(folder_ / "cache");
  const ExtractReport report = run("f.safetensors");
  EXPECT_EQ(report.cached, kept);
  EXPECT_EQ(report.computed, kImages - kept);
  EXPECT_EQ(content(folder_ / "f.safetensors"), expected);
}

}  // namespace
}  // namespace annulus
