// Data sets are found below one folder by name, or in it.
#include "annulus/store/images/dataset_images.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/fixtures/dataset_trees.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(DatasetImages, EachIsFoundInAFolderOfItsName) {
  const ScratchFolder scratch;
  for (const char* name : {"Imagenet", "Imagenet_1pt", "CUB", "mini-ImageNet", "CIFAR-FS"}) {
    EXPECT_FALSE(find_dataset_images(scratch.path(), name)) << name;
  }
  make_imagenet(scratch / "ILSVRC2012", 3, 2);
  make_cub(scratch / "CUB_200_2011", 2, 2);
  make_mini_imagenet(scratch / "miniImageNet", 5, 2);
  make_cifar_fs(scratch / "cifar-fs", 5, 3);
  const auto imagenet = find_dataset_images(scratch.path(), "Imagenet");
  ASSERT_TRUE(imagenet);
  EXPECT_EQ(imagenet->folder, scratch / "ILSVRC2012");
  EXPECT_EQ(imagenet->train.paths.size(), 6U);
  EXPECT_EQ(imagenet->test.paths.size(), 3U);
  EXPECT_EQ(find_dataset_images(scratch.path(), "Imagenet_1pt")->train.paths.size(), 4U);
  const auto cub = find_dataset_images(scratch.path(), "CUB");
  ASSERT_TRUE(cub);
  EXPECT_EQ(cub->train.labels, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(cub->test.labels, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(cub->test.paths[1], (scratch / "CUB_200_2011/images/002.Bird_1/Bird_6.jpg").string());
  EXPECT_EQ(find_dataset_images(scratch.path(), "mini-ImageNet")->test.paths.size(), 10U);
  EXPECT_EQ(find_dataset_images(scratch.path(), "CIFAR-FS")->test.paths.size(), 15U);
}

TEST(DatasetImages, TheRootItselfMayBeTheDataSet) {
  const ScratchFolder scratch;
  make_cub(scratch.path(), 2, 1);
  EXPECT_EQ(find_dataset_images(scratch.path(), "CUB")->folder, scratch.path());
  EXPECT_FALSE(find_dataset_images(scratch.path(), "Imagenet"));
}

TEST(DatasetImages, AClassThatIsOnlyTestedOnIsAnError) {
  const ScratchFolder scratch;
  make_imagenet(scratch.path(), 2, 1);
  dataset_trees::put_photo(scratch / "val/n09999999/a.JPEG", 0);
  expect_error(ErrorKind::kInput, "found none of \"n09999999\"",
               [&] { find_dataset_images(scratch.path(), "Imagenet"); });
}

TEST(DatasetImages, OtherNamesAreErrors) {
  expect_error(ErrorKind::kUsage, "found \"CIFAR-10\"", [] { find_dataset_images(".", "CIFAR-10"); });
}

}  // namespace
}  // namespace annulus
