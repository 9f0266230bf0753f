// ImageNet's folders, its validation table and the list of 1 %.
#include "annulus/store/images/imagenet_layout.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/fixtures/dataset_trees.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using ClassNames = std::vector<std::string>;

class ImagenetLayoutTest : public ::testing::Test {
 protected:
  ImagenetLayoutTest() { make_imagenet(scratch_.path(), 3, 2); }
  // Moves the validation images to one flat folder.
  void flatten() {
    for (int c = 0; c < 3; ++c) {
      const std::string name = "ILSVRC2012_val_0000000" + std::to_string(c) + ".JPEG";
      std::filesystem::rename(scratch_ / "val" / ("n0000000" + std::to_string(c)) / name, scratch_ / "val" / name);
      std::filesystem::remove(scratch_ / "val" / ("n0000000" + std::to_string(c)));
    }
  }
  void expect_fault(const std::string& table, ErrorKind kind, const std::string& words) {
    scratch_.write("LOC_val_solution.csv", table);
    expect_error(kind, words, [&] { imagenet_validation(scratch_.path()); });
  }

  ScratchFolder scratch_;
};

TEST_F(ImagenetLayoutTest, ClassesAreFolders) {
  EXPECT_TRUE(is_imagenet(scratch_.path()));
  EXPECT_FALSE(is_imagenet(scratch_ / "train"));
  EXPECT_EQ(imagenet_train(scratch_.path()).paths.size(), 6U);
  const ImageList validation = imagenet_validation(scratch_.path());
  EXPECT_EQ(validation.class_names, (ClassNames{"n00000000", "n00000001", "n00000002"}));
  EXPECT_EQ(validation.labels, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST_F(ImagenetLayoutTest, AFlatValidationSetHasATable) {
  flatten();
  expect_error(ErrorKind::kInput, "expected a folder a class, or LOC_val_solution.csv",
               [&] { imagenet_validation(scratch_.path()); });
  scratch_.write("LOC_val_solution.csv",
                 "ImageId,PredictionString\nILSVRC2012_val_00000001,n00000001 10 20 30 40 \n"
                 "ILSVRC2012_val_00000000,n00000000 1 2 3 4 n00000000 5 6 7 8 \n");
  const ImageList list = imagenet_validation(scratch_.path());
  EXPECT_EQ(list.class_names, (ClassNames{"n00000000", "n00000001"}));
  EXPECT_EQ(list.labels, (std::vector<std::int32_t>{1, 0}));
}

TEST_F(ImagenetLayoutTest, TheTableMayLieAboveTheImages) {
  flatten();
  const auto inner = scratch_ / "ILSVRC/Data/CLS-LOC";
  std::filesystem::create_directories(inner);
  for (const char* name : {"train", "val"}) std::filesystem::rename(scratch_ / name, inner / name);
  scratch_.write("LOC_val_solution.csv", "ImageId,PredictionString\nILSVRC2012_val_00000002,n00000002 1 2 3 4 \n");
  EXPECT_EQ(imagenet_validation(inner).class_names, ClassNames{"n00000002"});
}

TEST_F(ImagenetLayoutTest, ADamagedTableIsNamedWithItsLine) {
  flatten();
  expect_fault("", ErrorKind::kFormat, "expected the columns ImageId,PredictionString");
  expect_fault("file,class\na,b\n", ErrorKind::kFormat,
               "expected the columns ImageId,PredictionString, found \"file,class\"");
  expect_fault("ImageId,PredictionString\nILSVRC2012_val_00000000\n", ErrorKind::kFormat,
               "line 2: expected an image and its class");
  expect_fault("ImageId,PredictionString\nILSVRC2012_val_00000000, \n", ErrorKind::kFormat,
               "line 2: expected an image and its class");
  expect_fault("ImageId,PredictionString\nlost,n00000000 1\n", ErrorKind::kInput, "line 2: expected the image lost in");
  expect_fault("ImageId,PredictionString\nILSVRC2012_val_00000000,n0 1\nILSVRC2012_val_00000000,n0 1\n",
               ErrorKind::kFormat, "line 3: expected every image once");
  expect_fault("ImageId,PredictionString\n", ErrorKind::kInput, "found none");
}

TEST_F(ImagenetLayoutTest, OnePercentIsTheListOfTrainingImages) {
  const ImageList list = imagenet_one_percent(scratch_.path());
  EXPECT_EQ(list.paths.size(), 4U);
  EXPECT_EQ(list.labels, (std::vector<std::int32_t>{0, 1, 2, 0}));
  scratch_.write("1percent.txt", "n00000000_0.JPEG\nn00000000_99.JPEG\n");
  expect_error(ErrorKind::kInput, "line 2", [&] { imagenet_one_percent(scratch_.path()); });
  std::filesystem::create_directories(scratch_ / "imagenet_subsets");
  std::filesystem::remove(scratch_ / "1percent.txt");
  expect_error(ErrorKind::kInput, "expected the list of 1 %", [&] { imagenet_one_percent(scratch_.path()); });
  scratch_.write("imagenet_subsets/1percent.txt", "n00000001_1.JPEG\n");
  EXPECT_EQ(imagenet_one_percent(scratch_.path()).class_names, ClassNames{"n00000001"});
}

}  // namespace
}  // namespace annulus
