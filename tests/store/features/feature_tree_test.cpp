// Where feature files are looked for, and what is said of those that are not there.
#include "annulus/store/features/feature_tree.h"

#include <gtest/gtest.h>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

const PaperFeatures kFeatures{"DINO", "CUB", "deit_small_p16"};

TEST(FeatureTree, FindsTheAuthorsFilesAndListsTheOthers) {
  const FeatureTree tree(std::filesystem::path(ANNULUS_TEST_DATA) / "reproduce");
  const TreeFiles one = find_files(tree, kFeatures, 1, 3);
  EXPECT_TRUE(one.usable());
  EXPECT_EQ(one.training.size(), 3U);
  EXPECT_TRUE(one.missing.empty());
  const TreeFiles two = find_files(tree, kFeatures, 2, 3);
  EXPECT_TRUE(two.usable());
  EXPECT_EQ(two.runs, std::vector<std::size_t>{0});
  ASSERT_EQ(two.missing.size(), 2U);
  EXPECT_TRUE(two.missing[0].string().ends_with("reproduce/DINO/CUB/deit_small_p16/features/train_2shot_1.pth"));
  const TreeFiles none = find_files(tree, {"BYOL", "CUB", "resnet50"}, 16, 2);
  EXPECT_FALSE(none.usable());
  EXPECT_EQ(none.missing.size(), 3U);
  EXPECT_EQ(none.missing.back().filename(), "test.pth");
}

TEST(FeatureTree, OnePercentIsOneList) {
  const FeatureTree tree(std::filesystem::path(ANNULUS_TEST_DATA) / "reproduce");
  const TreeFiles files = find_files(tree, {"DINO", "Imagenet_1pt", "deit_small_p16"}, 0, 3);
  EXPECT_TRUE(files.usable());
  EXPECT_TRUE(files.missing.empty());
  EXPECT_EQ(files.training.front().filename(), "train_1pt.pth");
}

TEST(FeatureTree, TakesOtherFormatsInPlaceOfTheAuthors) {
  const ScratchFolder folder;
  const FeatureTree tree(folder.path());
  std::filesystem::create_directories(tree.folder(kFeatures));
  const auto write = [&](const char* name) { folder.write((tree.folder(kFeatures) / name).string(), "x"); };
  write("test.npz");
  EXPECT_EQ(tree.find(kFeatures, "test")->filename(), "test.npz");
  write("test.safetensors");
  EXPECT_EQ(tree.find(kFeatures, "test")->filename(), "test.safetensors");
  write("test.pth");
  EXPECT_EQ(tree.find(kFeatures, "test")->filename(), "test.pth");
  EXPECT_FALSE(tree.find(kFeatures, "train_1shot_0"));
  expect_error(ErrorKind::kIo, "expected a folder of feature files", [&] { FeatureTree(folder / "nowhere"); });
}

}  // namespace
}  // namespace annulus
