// Networks in the cache: imported from a checked file, recorded, verified, removed; and the pinned ones from npm.
#include "annulus/pipeline/backbones/backbone_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/backbones/backbone_timing.h"
#include "annulus/pipeline/download/download.h"
#include "annulus/pipeline/extract.h"
#include "annulus/pipeline/import_backbone.h"
#include "annulus/vision/image/svg.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/own_cache.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

const std::string kCheckpoint = std::string(ANNULUS_TEST_DATA) + "/import/dino_plain.pth";

std::string checksum_of(const std::filesystem::path& file) {
  const std::string bytes = content_of(file);
  return sha256_hex(std::as_bytes(std::span(bytes)));
}

BackboneEntry tiny_entry() {
  BackboneEntry entry;
  entry.name = "tiny";
  entry.network = "ViT";
  entry.dimension = 8;
  entry.image_size = 32;
  entry.licence = "CC BY-NC 4.0";
  entry.licence_address = "https://host.example/licence";
  entry.address = "https://host.example/tiny.pth";
  entry.verified_by = "first download";
  entry.arch = "vit:width=8,depth=2,heads=2,patch=8,image=32";
  return entry;
}

class BackboneStore : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    cache_.emplace(scratch_ / "cache");
  }
  ResolvedBackbone install(const BackboneEntry& entry, const std::string& file = kCheckpoint) {
    return install_backbone(entry, file, {}, [this](const std::string& line) { notes_.push_back(line); });
  }
  std::string error_of(const BackboneEntry& entry, ErrorKind kind, const std::string& file = kCheckpoint) {
    try {
      install(entry, file);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  std::size_t files() const {
    const auto folder = scratch_ / "cache" / "backbones";
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  ScratchFolder scratch_;
  std::optional<OwnCache> cache_;
  std::vector<std::string> notes_;
};

TEST_F(BackboneStore, ImportsAFileGotByHandAndRecordsIt) {
  const BackboneEntry entry = tiny_entry();
  EXPECT_FALSE(is_cached(entry));
  const ResolvedBackbone network = install(entry);
  EXPECT_EQ(network.file, cached_backbone(entry));
  EXPECT_EQ(network.name, "tiny");
  EXPECT_TRUE(is_cached(entry));
  EXPECT_EQ(files(), 2U) << "the network and its record";
  const BackboneRecord record = read_backbone_record("tiny");
  EXPECT_EQ(record.source_sha256, checksum_of(kCheckpoint));
  EXPECT_EQ(record.onnx_sha256, checksum_of(network.file));
  EXPECT_EQ(record.address, "by hand: dino_plain.pth");
  EXPECT_EQ(record.licence_shown, "CC BY-NC 4.0");
  ASSERT_EQ(notes_.size(), 2U);
  EXPECT_EQ(notes_[0],
            "tiny: licence CC BY-NC 4.0, which does not allow commercial use as far as is known "
            "(https://host.example/licence)");
  EXPECT_TRUE(notes_[1].starts_with("tiny: nobody publishes a checksum of it; the sha256 " + record.source_sha256))
      << notes_[1];
  const Backbone backbone(network.file);
  EXPECT_EQ(backbone.dimension(), 8U);
  EXPECT_FALSE(backbone.preprocessing().empty());
  install(entry);
  EXPECT_EQ(notes_.size(), 2U) << "each is said once";
}

TEST_F(BackboneStore, HoldsTheChecksumOfThePublisherOrOfTheFirstFile) {
  BackboneEntry entry = tiny_entry();
  install(entry);
  EXPECT_TRUE(remove_backbone(entry));
  EXPECT_FALSE(is_cached(entry));
  EXPECT_FALSE(remove_backbone(entry));
  const std::string other = std::string(ANNULUS_TEST_DATA) + "/import/dino_plain_legacy.pth";
  const std::string held = error_of(entry, ErrorKind::kInput, other);
  EXPECT_NE(held.find("expected the file of tiny to have the sha256 " + checksum_of(kCheckpoint) +
                      " (from its first download, recorded in "),
            std::string::npos)
      << held;
  EXPECT_FALSE(is_cached(entry));
  entry.sha256 = checksum_of(other).substr(0, 8);
  entry.verified_by = "publisher";
  install(entry, other);
  EXPECT_TRUE(is_cached(entry));
  EXPECT_NE(error_of(entry, ErrorKind::kInput).find("(from its publisher)"), std::string::npos);
}

TEST_F(BackboneStore, AFileThatDoesNotFitLeavesNothing) {
  BackboneEntry entry = tiny_entry();
  entry.dimension = 9;
  EXPECT_NE(error_of(entry, ErrorKind::kInput).find("expected tiny to have 9 dimensions, found 8"), std::string::npos);
  EXPECT_FALSE(is_cached(entry));
  EXPECT_EQ(files(), 1U) << "that the licence was shown";
  entry = tiny_entry();
  entry.arch = "resnet50";
  error_of(entry, ErrorKind::kInput);
  const auto broken = scratch_.write("broken.pth", content_of(kCheckpoint).substr(0, 500));
  error_of(tiny_entry(), ErrorKind::kFormat, broken);
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(read_backbone_record("tiny").source_sha256, "") << "a file that cannot be used is not held to";
  install(tiny_entry());
}

TEST_F(BackboneStore, AReadyOnnxFileGetsItsPreprocessing) {
  BackboneEntry entry = tiny_entry();
  entry.format = "onnx";
  entry.arch.clear();
  entry.preprocess = "unit resize=8x8 crop=none";
  const std::string file = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  entry.dimension = Backbone(file).dimension();
  const ResolvedBackbone network = install(entry, file);
  const Backbone backbone(network.file);
  EXPECT_EQ(backbone.preprocessing(), entry.preprocess);
  EXPECT_EQ(backbone.dimension(), entry.dimension);
}

TEST_F(BackboneStore, AFeatureIsMadeWhereTheEntrySaysSo) {
  const auto rule_of = [&](const std::string& feature, const std::string& file) {
    BackboneEntry entry = tiny_entry();
    entry.feature = feature;
    if (feature == "cls+mean") entry.dimension = 16;
    if (file.ends_with(".onnx")) {
      entry.format = "onnx";
      entry.arch.clear();
      entry.preprocess = "unit resize=8x8 crop=none";
      entry.image_size = 8;
      entry.dimension = 0;
      entry.name = "ready";
    }
    const Backbone backbone(install(entry, file).file);
    EXPECT_FALSE(backbone.preprocessing().empty());
    EXPECT_EQ(backbone.metadata("annulus.backbone"), entry.name);
    return backbone.output_rule();
  };
  EXPECT_EQ(rule_of("", kCheckpoint), "features, class token");
  EXPECT_EQ(rule_of("mean", kCheckpoint), "features, mean of patch tokens");
  EXPECT_EQ(rule_of("cls+mean", kCheckpoint), "features, class token and mean of patch tokens");
  const std::string tokens = std::string(ANNULUS_TEST_DATA) + "/backbones/tokens.onnx";
  EXPECT_EQ(rule_of("", tokens), "last_hidden_state, class token");
  EXPECT_EQ(rule_of("mean", tokens), "features, mean of patch tokens");
}

TEST_F(BackboneStore, EveryFeatureOfANetworkHoldsToOneSource) {
  const BackboneEntry entry = tiny_entry();
  install(entry);
  ASSERT_EQ(notes_.size(), 2U);
  BackboneEntry mean = entry;
  mean.name = "tiny:mean";
  mean.feature = "mean";
  const std::string other = std::string(ANNULUS_TEST_DATA) + "/import/dino_plain_legacy.pth";
  EXPECT_NE(error_of(mean, ErrorKind::kInput, other).find("to have the sha256 " + checksum_of(kCheckpoint)),
            std::string::npos);
  install(mean);
  EXPECT_EQ(notes_.size(), 2U) << "licence and checksum were said of the network";
  EXPECT_NE(cached_backbone(mean), cached_backbone(entry));
  EXPECT_TRUE(is_cached(entry));
  EXPECT_EQ(verify_backbone(mean), std::nullopt);
  EXPECT_TRUE(remove_backbone(mean));
  EXPECT_TRUE(is_cached(entry)) << "the other feature stays";
}

TEST_F(BackboneStore, FeaturesInTheCacheAreListed) {
  const auto names = [] {
    std::vector<std::string> result;
    for (const BackboneEntry* const entry : listed_backbones()) result.push_back(entry->name);
    return result;
  };
  EXPECT_EQ(names().size(), known_backbones().size());
  const BackboneEntry& mean = *find_backbone("dino-vits16:mean");
  std::filesystem::create_directories(cached_backbone(mean).parent_path());
  std::ofstream(cached_backbone(mean)) << "a network";
  const std::vector<std::string> listed = names();
  ASSERT_EQ(listed.size(), known_backbones().size() + 1);
  const auto found = std::find(listed.begin(), listed.end(), "dino-vits16:mean");
  ASSERT_NE(found, listed.end());
  EXPECT_EQ(*std::prev(found), "dino-vits16");
}

TEST_F(BackboneStore, VerifyFindsDamage) {
  const BackboneEntry entry = tiny_entry();
  const ResolvedBackbone network = install(entry);
  EXPECT_EQ(verify_backbone(entry), std::nullopt);
  std::ofstream(network.file, std::ios::binary | std::ios::app) << "x";
  const auto fault = verify_backbone(entry);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("to have the sha256 " + read_backbone_record("tiny").onnx_sha256), std::string::npos) << *fault;
  remove_backbone(entry);
  EXPECT_THROW(verify_backbone(entry), Error);
}

TEST_F(BackboneStore, AnotherSourceOrImportIsAnotherFile) {
  const BackboneEntry entry = tiny_entry();
  for (std::string BackboneEntry::*field :
       {&BackboneEntry::address, &BackboneEntry::sha256, &BackboneEntry::arch, &BackboneEntry::preprocess,
        &BackboneEntry::within, &BackboneEntry::feature}) {
    BackboneEntry other = entry;
    other.*field += "x";
    EXPECT_NE(cached_backbone(other), cached_backbone(entry));
  }
  EXPECT_EQ(cached_backbone(entry).parent_path(), cache_folder() / "backbones");
}

TEST_F(BackboneStore, MeasuresAndKeepsTheTime) {
  const BackboneEntry entry = tiny_entry();
  const ResolvedBackbone network = install(entry);
  const double milliseconds = measure_backbone(network, {3, 5, 0.0});
  EXPECT_GT(milliseconds, 0.0);
  const BackboneRecord record = read_backbone_record("tiny");
  EXPECT_EQ(record.milliseconds, milliseconds);
  EXPECT_FALSE(record.milliseconds_on.empty());
  EXPECT_EQ(record.source_sha256, checksum_of(kCheckpoint)) << "the rest of the record stays";
  EXPECT_GT(measure_backbone({network.file, "mine.onnx", nullptr}, {1, 1, 0.0}), 0.0) << "a file of the user's";
}

TEST_F(BackboneStore, ABrokenRecordIsNamed) {
  std::filesystem::create_directories(scratch_ / "cache" / "backbones");
  EXPECT_EQ(read_backbone_record("tiny").address, "");
  for (const char* text : {"{", "[]", R"({"address": 3})"}) {
    std::ofstream(backbone_record_file("tiny")) << text;
    try {
      read_backbone_record("tiny");
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("tiny.json: expected the record of a network"), std::string::npos);
    }
  }
}

TEST(BackboneNames, EveryNetworkOfTheCatalogueHasAnImporter) {
  for (const BackboneEntry& known : known_backbones()) EXPECT_EQ(import_obstacle(known), std::nullopt) << known.name;
}

TEST(BackboneNames, SayWhatTheImporterDoesNotKnow) {
  BackboneEntry entry = tiny_entry();
  EXPECT_EQ(import_obstacle(entry), std::nullopt);
  entry.arch = "vit-huge";
  EXPECT_NE(import_obstacle(entry).value_or("").find("vit-huge"), std::string::npos);
  entry = tiny_entry();
  entry.feature = "everything";
  EXPECT_NE(import_obstacle(entry).value_or("").find("found \"everything\""), std::string::npos);
}

TEST(BackboneNames, AFileIsTakenAsItIsAndNonsenseIsRejected) {
  const std::string file = std::string(ANNULUS_TEST_DATA) + "/backbones/vector.onnx";
  try {
    onnxruntime();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const ResolvedBackbone found = resolve_backbone(file);
  EXPECT_EQ(found.file, file);
  EXPECT_EQ(found.name, "vector.onnx");
  EXPECT_EQ(found.entry, nullptr);
  try {
    resolve_backbone("resnet5000");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a name that annulus backbones lists, found \"resnet5000\""),
              std::string::npos)
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

TEST(Fetch, TellsWhatItWaitsForAndEndsTheScriptWhenAsked) {
  const ScratchFolder share;
  std::filesystem::permissions(share.write("fetch", "#!/bin/sh\nexec sleep 600\n"), std::filesystem::perms::owner_all);
  ::setenv("ANNULUS_SHARE", share.path().c_str(), 1);
  int heard = 0;
  try {
    fetch("item",
          [&](const Progress& progress) {
            EXPECT_EQ(progress.stage, "download an item");
            return ++heard < 3;
          },
          {"download an item", 0, 0, "7 MB"});
    ADD_FAILURE() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCancelled) << error.what();
  }
  ::unsetenv("ANNULUS_SHARE");
  EXPECT_EQ(heard, 3);
}

// Needs the 7 MB download once; without network (and nothing cached) there is nothing to test.
TEST(BackboneNames, MobileNetIsTheTestedOneAndSeesTheDifferenceBetweenPictures) {
  try {
    onnxruntime();
    fetch("weights-mobilenet-0.25");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const ResolvedBackbone resolved = resolve_backbone("mobilenet-0.25");
  const Backbone backbone(resolved.file);
  EXPECT_EQ(backbone.sha256(), resolved.entry->onnx_sha256);
  EXPECT_EQ(backbone.dimension(), resolved.entry->dimension);
  // The file may have been cached by an earlier version; today's importer must make the same one.
  const ScratchFolder scratch;
  const std::filesystem::path again = scratch / "again.onnx";
  ImportOptions options;
  options.image_size = resolved.entry->image_size;
  import_tfjs(fetch("weights-mobilenet-0.25") / "model.json", options, again);
  EXPECT_EQ(Backbone(again).sha256(), resolved.entry->onnx_sha256);
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
