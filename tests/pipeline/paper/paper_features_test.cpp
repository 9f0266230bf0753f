// Feature files of the paper's tables from small trees of images, by a small network.
#include "annulus/pipeline/paper/paper_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "annulus/pipeline/backbones/backbone_catalogue.h"
#include "annulus/store/features/feature_file.h"
#include "tests/fixtures/dataset_trees.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

const PaperFeatures kBirds{"DINO", "CUB", "deit_small_p16"};

PaperCell cell_of(const PaperFeatures& features, std::size_t shots) {
  PaperCell cell;
  cell.features = features;
  cell.shots = shots;
  return cell;
}

TEST(PaperNetworks, AreAllInTheCatalogue) {
  for (const std::string& name : paper_table_names()) {
    for (const PaperCell& cell : paper_table(name).cells) {
      const std::string network = paper_network(cell.features).name;
      EXPECT_NE(find_backbone(network), nullptr) << name << ": \"" << network << "\"";
    }
  }
}

TEST(MissingFeatures, AreThoseThatTheTreeLacks) {
  const ScratchFolder scratch;
  const FeatureTree tree(scratch.path());
  const std::vector<PaperCell> cells{cell_of(kBirds, 1), cell_of(kBirds, 1), cell_of(kBirds, 2),
                                     cell_of({"MSN", "Imagenet_1pt", "deit_small_p16"}, 0)};
  const std::vector<WantedFeatures> expected{
      {kBirds, {"test", "train_1shot_0", "train_1shot_1", "train_2shot_0", "train_2shot_1"}},
      {cells[3].features, {"test", "train_1pt"}}};
  EXPECT_EQ(missing_features(cells, tree, 2, false), expected);
  std::filesystem::create_directories(tree.folder(kBirds));
  std::ofstream(tree.place(kBirds, "test")) << "there";
  EXPECT_EQ(missing_features({cell_of(kBirds, 1)}, tree, 1, false),
            (std::vector<WantedFeatures>{{kBirds, {"train_1shot_0"}}}));
  EXPECT_EQ(missing_features({cell_of(kBirds, 1)}, tree, 1, true), (std::vector<WantedFeatures>{{kBirds, {"novel"}}}));
}

class PaperFeaturesTest : public NeedsOnnxRuntime {
 protected:
  PaperFeaturesTest() {
    options_.root = scratch_ / "data";
    options_.encoder.backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
    options_.encoder.cache = (scratch_ / "cache").string();
    options_.note = [this](const std::string& note) { notes_.push_back(note); };
    for (const char* name : {"data", "tree"}) std::filesystem::create_directories(scratch_ / name);
  }
  FeatureTree tree() const { return FeatureTree(scratch_ / "tree"); }
  FeatureSet made(const PaperFeatures& features, const std::string& stem) const {
    return read_features(tree().find(features, stem).value());
  }
  static std::set<std::string> paths_of(const FeatureSet& set) { return {set.paths().begin(), set.paths().end()}; }

  ScratchFolder scratch_;
  PaperImageOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(PaperFeaturesTest, ShotsOfARunContainEachOtherAndRunsDiffer) {
  make_cub(options_.root / "CUB_200_2011", 3, 6);
  make_paper_features({{kBirds, {"test", "train_1shot_0", "train_4shot_0", "train_4shot_1"}}}, tree(), options_);
  EXPECT_TRUE(notes_.empty()) << notes_.front();
  const FeatureSet test = made(kBirds, "test");
  EXPECT_EQ(test.rows(), 3U);
  EXPECT_EQ(test.dimension(), 5U);
  EXPECT_EQ(test.class_names()[1], "002.Bird_1");
  EXPECT_EQ(test.provenance().at("preprocessing"), to_text(preprocess_preset("imagenet")));
  const auto one = paths_of(made(kBirds, "train_1shot_0"));
  const auto four = paths_of(made(kBirds, "train_4shot_0"));
  EXPECT_EQ(one.size(), 3U);
  EXPECT_EQ(four.size(), 12U);
  EXPECT_TRUE(std::includes(four.begin(), four.end(), one.begin(), one.end()));
  EXPECT_NE(four, paths_of(made(kBirds, "train_4shot_1")));
  for (const std::string& path : test.paths()) EXPECT_FALSE(four.contains(path)) << path;
  // Run 1 of a seed is run 0 of the next.
  const auto second_run = paths_of(made(kBirds, "train_4shot_1"));
  std::filesystem::remove_all(tree().folder(kBirds));
  options_.seed = 1;
  make_paper_features({{kBirds, {"train_4shot_0"}}}, tree(), options_);
  EXPECT_EQ(paths_of(made(kBirds, "train_4shot_0")), second_run);
}

TEST_F(PaperFeaturesTest, EveryDataSetHasItsFilesAndPreprocessing) {
  make_imagenet(options_.root / "imagenet", 3, 2);
  make_mini_imagenet(options_.root / "mini-imagenet", 2, 2);
  make_cifar_fs(options_.root / "cifar-fs", 2, 2);
  const PaperFeatures imagenet{"MSN", "Imagenet", "deit_small_p16"};
  const PaperFeatures list{"MSN", "Imagenet_1pt", "deit_small_p16"};
  const PaperFeatures mini{"Meta-Baseline", "mini-ImageNet", "resnet12"};
  const PaperFeatures cifar{"S2M2_R", "CIFAR-FS", "wrn_28_10"};
  const PaperFeatures pmf{"PMF", "CIFAR-FS", "vit_small_p16"};
  make_paper_features({{imagenet, {"test", "train_2shot_0"}},
                       {list, {"test", "train_1pt"}},
                       {mini, {"novel"}},
                       {cifar, {"novel"}},
                       {pmf, {"novel"}}},
                      tree(), options_);
  EXPECT_TRUE(notes_.empty()) << notes_.front();
  EXPECT_EQ(made(imagenet, "train_2shot_0").rows(), 6U);
  EXPECT_EQ(made(imagenet, "test").rows(), 3U);
  EXPECT_EQ(made(list, "train_1pt").rows(), 4U);
  EXPECT_EQ(made(mini, "novel").rows(), 4U);
  const auto preprocessing = [&](const PaperFeatures& features) {
    return made(features, "novel").provenance().at("preprocessing");
  };
  EXPECT_EQ(preprocessing(mini), to_text(preprocess_preset("episode-80")));
  EXPECT_EQ(preprocessing(cifar), to_text(preprocess_preset("episode-32")));
  EXPECT_EQ(preprocessing(pmf), to_text(preprocess_preset("square-224")));
}

TEST_F(PaperFeaturesTest, RowsThatCannotBeMadeAreTold) {
  make_cub(options_.root / "CUB", 2, 2);
  options_.encoder.backbone.clear();
  options_.networks["DINO/deit_small_p16"] = (scratch_ / "lost.onnx").string();
  make_paper_features({{kBirds, {"test"}}, {{"DINO", "Imagenet", "deit_small_p16"}, {"test"}}}, tree(), options_);
  ASSERT_EQ(notes_.size(), 2U);
  EXPECT_NE(notes_[0].find("DINO/CUB/deit_small_p16 is left out, because its network cannot be had"), std::string::npos)
      << notes_[0];
  EXPECT_NE(notes_[1].find("Imagenet is not in "), std::string::npos) << notes_[1];
  EXPECT_FALSE(tree().find(kBirds, "test"));
}

TEST_F(PaperFeaturesTest, TooFewPhotosOfAClassAreAnError) {
  make_cub(options_.root / "CUB", 2, 2);
  expect_error(ErrorKind::kInput, "has 2 training examples, but 3 are needed", [&] {
    make_paper_features({{kBirds, {"train_3shot_0"}}}, tree(), options_);
  });
}

TEST_F(PaperFeaturesTest, ARootThatIsNoFolderIsAnError) {
  options_.root = scratch_ / "nowhere";
  expect_error(ErrorKind::kIo, "expected a folder of data sets", [&] { make_paper_features({}, tree(), options_); });
}

}  // namespace
}  // namespace annulus
