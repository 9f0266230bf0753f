// The novel classes of mini-ImageNet and CIFAR-FS in every layout that is known.
#include "annulus/store/images/class_split_layout.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/fixtures/dataset_trees.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using NovelNames = std::vector<std::string>;

void expect_novel_fault(const ScratchFolder& scratch, const char* list, const std::string& text, ErrorKind kind,
                        const std::string& words) {
  scratch.write(list, text);
  expect_error(kind, words, [&] { read_novel_classes(scratch.path()); });
}

TEST(ClassSplitLayout, ATableOfFilesAndClasses) {
  const ScratchFolder scratch;
  EXPECT_FALSE(is_class_split(scratch.path()));
  make_mini_imagenet(scratch.path(), 3, 2);
  EXPECT_TRUE(is_class_split(scratch.path()));
  const ImageList list = read_novel_classes(scratch.path());
  EXPECT_EQ(list.class_names, (NovelNames{"n01111110", "n01111111", "n01111112"}));
  EXPECT_EQ(list.labels, (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}));
  std::filesystem::create_directories(scratch / "splits");
  std::filesystem::rename(scratch / "test.csv", scratch / "splits/test.csv");
  EXPECT_EQ(read_novel_classes(scratch.path()).paths, list.paths);
}

TEST(ClassSplitLayout, NamesOfClasses) {
  const ScratchFolder scratch;
  make_cifar_fs(scratch.path(), 2, 3);
  const ImageList list = read_novel_classes(scratch.path());
  EXPECT_EQ(list.class_names, (NovelNames{"animal_0", "animal_1"}));
  EXPECT_EQ(list.paths.size(), 6U);
}

TEST(ClassSplitLayout, AFolderOfTheNovelClasses) {
  const ScratchFolder scratch;
  for (const char* path : {"meta-test/a/1.jpg", "meta-test/b/1.jpg", "meta-train/c/1.jpg"}) {
    dataset_trees::put_photo(scratch / path, 0);
  }
  EXPECT_EQ(read_novel_classes(scratch.path()).class_names, (NovelNames{"a", "b"}));
}

TEST(ClassSplitLayout, DamagedListsAreNamedWithTheirLine) {
  const ScratchFolder scratch;
  make_mini_imagenet(scratch.path(), 2, 1);
  const std::string file = "n0111111000000.jpg,n01111110\n";
  expect_novel_fault(scratch, "test.csv", "a,b,c\n", ErrorKind::kFormat,
                     "expected the columns filename,label, found \"a,b,c\"");
  expect_novel_fault(scratch, "test.csv", "filename,label\nx.jpg\n", ErrorKind::kFormat,
                     "line 2: expected a file name");
  expect_novel_fault(scratch, "test.csv", "filename,label\nx.jpg,y\n", ErrorKind::kInput,
                     "line 2: expected the image x.jpg");
  expect_novel_fault(scratch, "test.csv", "filename,label\n" + file + file, ErrorKind::kFormat,
                     "line 3: expected every image once");
  expect_novel_fault(scratch, "test.csv", "filename,label\n", ErrorKind::kInput, "found none");
  expect_novel_fault(scratch, "test.csv", "filename,label\n\"x", ErrorKind::kFormat, "test.csv");
}

TEST(ClassSplitLayout, DamagedNamesAreNamedWithTheirLine) {
  const ScratchFolder scratch;
  make_cifar_fs(scratch.path(), 2, 1);
  const char* const list = "splits/bertinetto/test.txt";
  expect_novel_fault(scratch, list, "animal_0\nanimal_7\n", ErrorKind::kInput,
                     "line 2: expected a folder of the class animal_7");
  expect_novel_fault(scratch, list, "animal_0\nanimal_0\n", ErrorKind::kFormat, "line 2: expected every class once");
  expect_novel_fault(scratch, list, "../data\n", ErrorKind::kFormat, "line 1: expected the name of a class");
  expect_novel_fault(scratch, list, "", ErrorKind::kInput, "found none");
  std::filesystem::remove_all(scratch / "splits");
  expect_error(ErrorKind::kInput, "expected test.csv, test.txt or a folder test",
               [&] { read_novel_classes(scratch.path()); });
}

}  // namespace
}  // namespace annulus
