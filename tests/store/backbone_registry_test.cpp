// Names become tested ONNX files: downloaded, converted and checked once; anything else is refused with the list of
// names.
#include "annulus/store/backbone_registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/store/extract.h"
#include "annulus/store/fetch.h"
#include "annulus/store/import.h"
#include "annulus/vision/onnxruntime.h"
#include "annulus/vision/svg.h"
#include "tests/store/scratch_folder.h"

namespace annulus {
namespace {

TEST(BackboneRegistry, ListsWhatAUserMustKnow) {
  ASSERT_GE(default_backbones().size(), 2U);
  for (const BackboneEntry& entry : default_backbones()) {
    EXPECT_NE(std::string(entry.licence), "");
    EXPECT_NE(std::string(entry.trained_on).find("supervised"), std::string::npos);
    EXPECT_EQ(std::string(entry.sha256).size(), 64U);
    EXPECT_GT(entry.dimension, 0U);
    EXPECT_EQ(cached_backbone(entry).parent_path(), cache_folder() / "backbones");
  }
}

TEST(BackboneRegistry, AFileIsTakenAsItIsAndNonsenseIsRefused) {
  const std::string file = std::string(ANNULUS_TEST_DATA) + "/backbones/vector.onnx";
  const ResolvedBackbone found = resolve_backbone(file);
  EXPECT_EQ(found.file, file);
  EXPECT_EQ(found.name, "vector.onnx");
  EXPECT_EQ(found.entry, nullptr);
  try {
    resolve_backbone("resnet5000");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("mobilenet-0.25, resnet50, found \"resnet5000\""), std::string::npos)
        << error.what();
  }
}

TEST(Fetch, TheScriptsSentenceBecomesTheError) {
  try {
    fetch("no-such-item");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "fetch: expected a name listed by fetch --list, found \"no-such-item\".");
  }
  EXPECT_FALSE(fetched("no-such-item"));
}

// Needs the 7 MB download once; without network (and nothing cached) there is nothing to test.
TEST(BackboneRegistry, MobileNetIsTheTestedOneAndSeesTheDifferenceBetweenPictures) {
  try {
    onnxruntime();
    fetch("weights-mobilenet-0.25");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const ResolvedBackbone resolved = resolve_backbone("mobilenet-0.25");
  const Backbone backbone(resolved.file);
  EXPECT_EQ(backbone.sha256(), resolved.entry->sha256);
  EXPECT_EQ(backbone.dimension(), resolved.entry->dimension);
  // The file may have been cached by an earlier version; today's importer must make the same one.
  const ScratchFolder scratch;
  const std::filesystem::path again = scratch / "again.onnx";
  ImportOptions options;
  options.image_size = resolved.entry->image_size;
  import_tfjs(fetch("weights-mobilenet-0.25") / "model.json", options, again);
  EXPECT_EQ(Backbone(again).sha256(), resolved.entry->sha256);
  const PreprocessRecipe recipe = choose_recipe(backbone);
  const auto features = [&](const std::string& shape) {
    const auto png =
        render_svg(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">)" + shape + "</svg>", 224, shape);
    return extract_image(png, shape, backbone, recipe);
  };
  const auto cosine = [](const std::vector<float>& a, const std::vector<float>& b) {
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
      bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    }
    return ab / std::sqrt(aa * bb);
  };
  const auto circle = features(R"(<circle cx="16" cy="16" r="10" fill="teal"/>)");
  const auto moved = features(R"(<circle cx="17" cy="16" r="10" fill="teal"/>)");
  const auto stripes = features(R"(<path d="M0 4H32M0 12H32M0 20H32M0 28H32" stroke="black" stroke-width="3"/>)");
  EXPECT_GT(cosine(circle, moved), 0.9);
  EXPECT_LT(cosine(circle, stripes), cosine(circle, moved) - 0.1);
}

}  // namespace
}  // namespace annulus
