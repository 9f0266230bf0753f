// Views and joined networks: the same rows from a list, a file and one image; cached by view and network.
#include "annulus/pipeline/encode.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/image/svg.h"
#include "annulus/vision/video/video_type.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/killed_child.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

constexpr std::size_t kPhotos = 12;

std::string network(const std::string& name) { return std::string(ANNULUS_TEST_DATA) + "/backbones/" + name + ".onnx"; }

class Encode : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    for (const char* const name : {"train/class0", "train/class1", "test/class0", "test/class1"}) {
      std::filesystem::create_directories(folder_ / name);
    }
    for (std::size_t i = 0; i < kPhotos; ++i) {
      const std::string svg = fmt::format(
          R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="{}" y="{}" width="5" height="6" fill="rgb({},{},9)"/></svg>)svg",
          i % 5, i % 7, 20 * i, 255 - 9 * i);
      const auto png = render_svg(svg, 16, "test picture");
      folder_.write(fmt::format("{}/class{}/{:02}.png", i < 8 ? "train" : "test", i % 2, i),
                    {reinterpret_cast<const char*>(png.data()), png.size()});
    }
    list_ = list_images(folder_.path());
  }

  static Encoder open(const std::string& backbone, const std::string& views = "none") {
    EncoderOptions options;
    options.backbone = backbone;
    options.preprocess = "unit resize=8x8 crop=none";
    options.views = views_from_text(views);
    return open_encoder(options, {});
  }
  static Encoder open_joined(const std::string& views = "none") {
    return open(network("vector") + "+" + network("tokens"), views);
  }

  FeatureSet encode(const Encoder& encoder, ExtractOptions options = {}) {
    options.cache = folder_ / "cache";
    return encode_list(list_, "photos", encoder, options, report_);
  }

  std::vector<float> encode_one(const Encoder& encoder, std::size_t number) const {
    return encode_image(load_image_bytes(list_.paths[number], 1 << 20), "it", encoder);
  }

  void expect_rows_of_images(const Encoder& encoder) {
    const FeatureSet set = encode(encoder);
    ASSERT_EQ(set.rows(), kPhotos);
    ASSERT_EQ(set.dimension(), encoder.dimension());
    const Matrix<float> rows = rows_of(set);
    for (std::size_t i = 0; i < kPhotos; ++i) {
      EXPECT_EQ(encode_one(encoder, i), copied(rows.row(i))) << encoder.name << ", image " << i;
    }
  }

  ScratchFolder folder_;
  ImageList list_;
  ExtractReport report_;
};

TEST_F(Encode, AListHasTheRowsOfItsImages) {
  for (const char* const views : {"none", "flip", "3", "3:1"}) {
    SCOPED_TRACE(views);
    expect_rows_of_images(open(network("vector"), views));
    expect_rows_of_images(open_joined(views));
  }
}

TEST_F(Encode, AFlipIsTheMeanOfAPhotoAndItsMirrorImage) {
  const Encoder encoder = open(network("vector"), "flip");
  const EncoderPart& part = encoder.parts.front();
  const Image image = read_image(list_.paths[3]);
  const auto plain = extract_image(image, "it", part.backbone, part.recipe);
  const auto mirrored = extract_image(image, "it", part.backbone, part.recipe, {ViewKind::kMirrored});
  const auto both = encode_one(encoder, 3);
  EXPECT_NE(plain, mirrored);
  for (std::size_t j = 0; j < both.size(); ++j) EXPECT_FLOAT_EQ(both[j], (plain[j] + mirrored[j]) / 2.0F);
}

TEST_F(Encode, EachNetworkOfJoinedOnesHasTheSameWeight) {
  const auto row = encode_one(open_joined(), 2);
  ASSERT_EQ(row.size(), 10U);
  for (const std::size_t first : {0U, 5U}) {
    double squares = 0.0;
    for (std::size_t j = first; j < first + 5; ++j)
      squares += static_cast<double>(row[j]) * static_cast<double>(row[j]);
    EXPECT_NEAR(squares, 1.0, 1e-6);
  }
}

TEST_F(Encode, TheCacheHoldsEveryViewByEveryNetwork) {
  encode(open(network("vector")));
  EXPECT_EQ(report_.computed, kPhotos);
  encode(open(network("vector"), "flip"));
  EXPECT_EQ(report_.computed, kPhotos) << "the photos themselves were there";
  EXPECT_EQ(report_.cached, kPhotos);
  encode(open_joined("flip"));
  EXPECT_EQ(report_.computed, 2 * kPhotos) << "the second network";
  encode(open_joined("flip"));
  EXPECT_EQ(report_.computed, 0U);
  encode(open(network("tokens"), "2"));
  EXPECT_EQ(report_.computed, kPhotos) << "a random view is no mirror image";
  encode(open(network("tokens"), "2:5"));
  EXPECT_EQ(report_.computed, kPhotos) << "nor one of another seed";
}

TEST_F(Encode, ViewsMayBeTrainingExamplesOfTheirOwn) {
  ExtractOptions options;
  options.view_examples = true;
  const FeatureSet set = encode(open(network("vector"), "3"), options);
  // The test photos come first: each one row, the mean of its views.
  ASSERT_EQ(set.rows(), 4 + 3 * 8U);
  const Matrix<float> rows = rows_of(set);
  for (std::size_t i = 0; i < set.rows(); ++i) {
    const std::size_t photo = i < 4 ? i : 4 + (i - 4) / 3;
    EXPECT_EQ(set.paths()[i], list_.paths[photo]);
    EXPECT_EQ(set.labels()[i], list_.labels[photo]);
    EXPECT_EQ(set.is_train()[i], list_.is_train[photo]);
    EXPECT_EQ(set.groups()[i], static_cast<std::int32_t>(photo));
  }
  EXPECT_EQ(copied(rows.row(4)), encode_one(open(network("vector")), 4)) << "the first view is the photo";
  EXPECT_EQ(copied(rows.row(0)), encode_one(open(network("vector"), "3"), 0));
  EXPECT_NE(copied(rows.row(4)), copied(rows.row(5)));
}

TEST_F(Encode, ABrokenImageIsLeftOutOfAll) {
  folder_.write("train/class0/02.png", "no picture");
  list_.groups = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const FeatureSet set = encode(open_joined("flip"));
  EXPECT_EQ(set.rows(), kPhotos - 1);
  EXPECT_EQ(report_.broken, 1U);
  ASSERT_EQ(report_.reasons.size(), 1U);
  EXPECT_NE(report_.reasons.front().find("02.png"), std::string::npos);
  for (std::size_t i = 0; i < set.rows(); ++i) {
    EXPECT_EQ(set.paths()[i], list_.paths[static_cast<std::size_t>(set.groups()[i])]);
  }
}

TEST_F(Encode, FilesAreTheSameForAnyNumberOfThreads) {
  ExtractOptions options;
  options.type = FeatureType::kFloat32;
  const Encoder encoder = open_joined("3");
  for (const int threads : {1, 3}) {
    options.threads = threads;
    options.cache = folder_ / fmt::format("cache{}", threads);
    encode_to_file(list_, encoder, options, folder_ / fmt::format("{}.safetensors", threads));
  }
  const FeatureSet one = read_features(folder_ / "1.safetensors");
  expect_same_but_features(read_features(folder_ / "3.safetensors"), one);
  expect_same_bits(read_features(folder_ / "3.safetensors"), one);
  EXPECT_EQ(one.provenance().at("backbone"), "vector.onnx+tokens.onnx");
  EXPECT_EQ(one.provenance().at("views"), "3");
  options.cache = folder_ / "cache1";
  EXPECT_EQ(encode_to_cache(list_, encoder, options).computed, 0U);
}

TEST_F(Encode, TheRecordNamesAllNetworks) {
  const Encoder encoder = open_joined();
  const Provenance record = feature_provenance(encoder);
  EXPECT_EQ(record.at("backbone_sha256"),
            encoder.parts[0].backbone.sha256() + " + " + encoder.parts[1].backbone.sha256());
  EXPECT_FALSE(record.contains("views"));
  Model model;
  model.provenance = record;
  EncoderOptions alone;
  alone.backbone = network("vector");
  alone.preprocess = "unit resize=8x8 crop=none";
  expect_error(ErrorKind::kInput, "use the same for both", [&] { open_encoder_of(model, "m", alone, {}); });
  EncoderOptions swapped;
  swapped.backbone = network("tokens") + "+" + network("vector");
  expect_error(ErrorKind::kInput, "use the same for both", [&] { open_encoder_of(model, "m", swapped, {}); });
  EncoderOptions same;
  same.backbone = network("vector") + "+" + network("tokens");
  EXPECT_EQ(open_encoder_of(model, "m", same, {}).dimension(), 10U) << "with the preprocessing of the record";
  model.provenance["views"] = "flip";
  EXPECT_EQ(open_encoder_of(model, "m", same, {}).views, views_from_text("flip"));
  same.views = PhotoViews{};
  EXPECT_FALSE(open_encoder_of(model, "m", same, {}).views.any());
}

TEST_F(Encode, ProfilesAreAppliedWhereAskedFor) {
  const std::string photo = std::string(ANNULUS_TEST_DATA) + "/profiles/adobe.png";
  EncoderOptions options;
  options.backbone = network("vector");
  options.preprocess = "unit resize=8x8 crop=none";
  const auto row_of = [&](const Encoder& encoder, const std::string& path) {
    return encode_image(load_image_bytes(path, 1 << 20), "it", encoder);
  };
  const auto as_stored = row_of(open_encoder(options, {}), photo);
  options.srgb = true;
  const Encoder encoder = open_encoder(options, {});
  EXPECT_TRUE(feature_provenance(encoder).at("preprocessing").ends_with(" exif=apply profile=srgb"));
  const auto converted = row_of(encoder, photo);
  EXPECT_NE(converted, as_stored);
  // Pillow's conversion, within a level of 255.
  const auto expected = row_of(encoder, std::string(ANNULUS_TEST_DATA) + "/profiles/adobe.srgb.png");
  for (std::size_t j = 0; j < converted.size(); ++j) EXPECT_NEAR(converted[j], expected[j], 0.02) << j;
  list_ = list_images(photo);
  EXPECT_EQ(copied(rows_of(encode(encoder)).row(0)), converted) << "from a list";
  EXPECT_EQ(row_of(encoder, std::string(ANNULUS_TEST_DATA) + "/profiles/srgb.png").size(), converted.size());

  Model model;
  model.provenance = feature_provenance(encoder);
  EncoderOptions same;
  same.backbone = network("vector");
  EXPECT_TRUE(open_encoder_of(model, "m", same, {}).parts.front().recipe.to_srgb) << "as the model was trained";
  options.srgb = false;
  model.provenance = feature_provenance(open_encoder(options, {}));
  same.srgb = true;
  expect_error(ErrorKind::kInput, "preprocessing", [&] { open_encoder_of(model, "m", same, {}); });
}

TEST_F(Encode, JoinedNetworksDecodeAlike) {
  EncoderOptions options;
  options.backbone = network("vector") + "+" + network("tokens");
  for (const std::string other : {"exif=ignore", "profile=srgb"}) {
    options.preprocess = "unit resize=8x8 crop=none + unit resize=8x8 crop=none " + other;
    expect_error(ErrorKind::kUsage, "the same exif= and profile= for all joined networks",
                 [&] { open_encoder(options, {}); });
  }
}

// Photos, boxes in them, and frames of a video.
ImageList photos_boxes_and_frames(const std::filesystem::path& folder) {
  ImageList list = list_images(folder / "photos");
  const std::vector<std::string> photos = list.paths;
  for (std::size_t i = 0; i < photos.size(); ++i) {
    for (const char* const box : {"#xywh=0,0,8,16", "#xywh=percent:50,0,50,100"}) {
      list.paths.push_back(photos[i] + box);
      list.labels.push_back(list.labels[i]);
      list.is_train.push_back(list.is_train[i]);
    }
  }
  for (std::size_t quarter = 0; reads_videos() && quarter < 12; ++quarter) {
    list.paths.push_back(
        fmt::format("{}/videos/scenes.mp4#t={}", ANNULUS_TEST_DATA, 0.25 * static_cast<double>(quarter)));
    list.labels.push_back(0);
    list.is_train.push_back(1);
  }
  return list;
}

ExtractReport encode_all(const std::filesystem::path& folder, const std::string& cache,
                         const ProgressCallback& progress = {}) {
  EncoderOptions options;
  options.backbone = network("vector") + "+" + network("tokens");
  options.preprocess = "unit resize=8x8 crop=none profile=srgb";
  options.views = views_from_text("flip");
  ExtractOptions extraction;
  extraction.cache = folder / cache;
  extraction.threads = 2;
  return encode_to_file(photos_boxes_and_frames(folder), open_encoder(options, {}), extraction,
                        folder / "f.safetensors", progress);
}

// Run by the next test in a process of its own.
TEST(EncodeChild, DISABLED_EncodesSlowly) {
  encode_all(std::getenv("ANNULUS_ENCODE_TEST"), "cache", [](const Progress&) { return ::usleep(2000) == 0; });
}

TEST_F(Encode, KilledAgainAndAgainItLosesAndDoublesNothing) {
  std::filesystem::create_directory(folder_ / "photos");
  for (const char* const name : {"train", "test"}) std::filesystem::rename(folder_ / name, folder_ / "photos" / name);
  const ExtractReport fresh = encode_all(folder_.path(), "untouched");
  const std::size_t all = 4 * photos_boxes_and_frames(folder_.path()).paths.size();
  EXPECT_EQ(fresh.computed, all) << "two views by two networks";
  const std::string checksum = content_checksum(read_features(folder_ / "f.safetensors"));
  std::filesystem::remove(folder_ / "f.safetensors");

  ::setenv("ANNULUS_ENCODE_TEST", folder_.path().c_str(), 1);
  for (const std::size_t percent : {1U, 20U, 45U, 55U, 80U}) {
    const std::size_t enough = std::max<std::size_t>(1, all * percent / 100);
    ASSERT_NO_FATAL_FAILURE(run_and_kill("EncodeChild.*", folder_ / "cache", enough));
    ASSERT_GE(cached_rows(folder_ / "cache"), enough);
  }
  std::filesystem::remove(folder_ / "f.safetensors");
  const std::size_t kept = cached_rows(folder_ / "cache");
  const ExtractReport report = encode_all(folder_.path(), "cache");
  EXPECT_EQ(report.cached, kept);
  EXPECT_EQ(report.computed, all - kept);
  EXPECT_EQ(content_checksum(read_features(folder_ / "f.safetensors")), checksum);
}

TEST_F(Encode, JoinsDifferentNetworksAlone) {
  for (const std::string& text : {network("vector") + "+", "+" + network("vector"),
                                  network("vector") + "+" + network("vector"), std::string("resnet50++dino")}) {
    expect_error(ErrorKind::kUsage, "different networks", [&] { joined_backbones(text); });
  }
  EXPECT_EQ(joined_backbones("resnet50+mobilenet-0.25"), (std::vector<std::string>{"resnet50", "mobilenet-0.25"}));
  EXPECT_EQ(joined_backbones(network("vector")).size(), 1U);
}

TEST(FeatureOfAModel, IsPartOfTheNameOfItsNetwork) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(joined_backbones("dinov2-vits14:cls+mean+resnet50"), (Names{"dinov2-vits14:cls+mean", "resnet50"}));
  EXPECT_EQ(joined_backbones("dinov2-vits14:cls"), Names{"dinov2-vits14"}) << "records have one name for a network";
  expect_error(ErrorKind::kUsage, "different networks", [] { joined_backbones("dinov2-vits14+dinov2-vits14:cls"); });
  Model model;
  model.provenance["backbone"] = "dinov2-vits14:mean";
  EncoderOptions other;
  other.backbone = "auto:cls";
  expect_error(ErrorKind::kInput,
               "expected feature to be that of m, which was trained with dinov2-vits14:mean, found "
               "dinov2-vits14",
               [&] { open_encoder_of(model, "m", other, {}); });
}

}  // namespace
}  // namespace annulus
