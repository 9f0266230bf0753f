// CUB's lists: whole, and damaged in every way that has a sentence of its own.
#include "annulus/store/images/cub_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/fixtures/dataset_trees.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

class CubLayoutTest : public ::testing::Test {
 protected:
  CubLayoutTest() { make_cub(scratch_.path(), 3, 2); }
  void expect_fault(const char* list, const std::string& text, ErrorKind kind, const std::string& words) {
    const std::string whole = content_of(scratch_ / list);
    scratch_.write(list, text);
    expect_error(kind, words, [&] { read_cub(scratch_.path()); });
    scratch_.write(list, whole);
  }

  ScratchFolder scratch_;
};

TEST_F(CubLayoutTest, ClassesAndSplitAreThoseOfTheLists) {
  EXPECT_TRUE(is_cub(scratch_.path()));
  const ImageList list = read_cub(scratch_.path());
  ASSERT_EQ(list.paths.size(), 9U);
  EXPECT_EQ(list.class_names, (std::vector<std::string>{"001.Bird_0", "002.Bird_1", "003.Bird_2"}));
  EXPECT_EQ(list.labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(list.is_train, (std::vector<std::uint8_t>{1, 1, 0, 1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(list.paths[3], (scratch_ / "images/002.Bird_1/Bird_4.jpg").string());
}

TEST_F(CubLayoutTest, LinesMayEndAsOnWindows) {
  scratch_.write("classes.txt", "1 a\r\n2 b\r\n3 c\r\n\r\n");
  EXPECT_EQ(read_cub(scratch_.path()).class_names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(CubLayoutTest, DamagedListsAreNamedWithTheirLine) {
  expect_fault("images.txt", "", ErrorKind::kFormat, "images.txt: expected a list, found an empty file");
  expect_fault("images.txt", "1 001.Bird_0/Bird_1.jpg\nbird\n", ErrorKind::kFormat,
               "images.txt: line 2: expected a number and a word, found \"bird\"");
  expect_fault("images.txt", "1\n", ErrorKind::kFormat, "line 1: expected a number and a word");
  expect_fault("images.txt", "99999999999999999999999 a.jpg\n", ErrorKind::kFormat, "line 1: expected a number");
  expect_fault("images.txt", "1 a.jpg\n1 b.jpg\n", ErrorKind::kFormat, "line 2: expected every number once");
  expect_fault("images.txt", "1 nowhere.jpg\n", ErrorKind::kInput, "nowhere.jpg, found no such file");
  expect_fault("images.txt", "1 \xff.jpg\n", ErrorKind::kFormat, "UTF-8");
  expect_fault("image_class_labels.txt", "1 1\n", ErrorKind::kInput,
               "image_class_labels.txt: expected an entry for 2, which");
  expect_fault("image_class_labels.txt", "1 one\n2 1\n3 1\n4 2\n5 2\n6 2\n7 3\n8 3\n9 3\n", ErrorKind::kFormat,
               "image_class_labels.txt: line 1: expected the number of a class, found \"one\"");
  expect_fault("train_test_split.txt", "1 2\n", ErrorKind::kFormat,
               "train_test_split.txt: line 1: expected 1 for a training image or 0, found \"2\"");
  expect_fault("classes.txt", "1 a\n", ErrorKind::kInput, "classes.txt: expected an entry for 2");
}

TEST_F(CubLayoutTest, AMissingListIsAnError) {
  std::filesystem::remove(scratch_ / "train_test_split.txt");
  expect_error(ErrorKind::kIo, "train_test_split.txt", [&] { read_cub(scratch_.path()); });
  EXPECT_FALSE(is_cub(scratch_ / "images"));
}

}  // namespace
}  // namespace annulus
