// Every layout of image folders, what is passed over, and what is rejected.
#include "annulus/store/images/image_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "annulus/store/images/image_file.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;

void put(const ScratchFolder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    fs::create_directories((folder / name).parent_path());
    folder.write(name, "x");
  }
}

std::vector<std::string> relative_paths(const ImageList& list, const ScratchFolder& folder) {
  std::vector<std::string> names;
  for (const std::string& path : list.paths) names.push_back(fs::path(path).lexically_relative(folder.path()).string());
  return names;
}

bool has_warning(const ImageList& list, const std::string& words) {
  return std::any_of(list.warnings.begin(), list.warnings.end(),
                     [&](const std::string& warning) { return warning.find(words) != std::string::npos; });
}

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;
using Flags = std::vector<std::uint8_t>;

TEST(ListImages, AFolderAClassWithNestedFiles) {
  const ScratchFolder folder;
  put(folder, {"b/2.PNG", "b/1.jpg", "a/deep/er/z.webp", "a/y.jpeg", "a/notes.txt", "a/.hidden.jpg", "readme.md",
               "stray.jpg", ".git/x.jpg"});
  const ImageList list = list_images(folder.path());
  EXPECT_EQ(relative_paths(list, folder), (Names{"a/deep/er/z.webp", "a/y.jpeg", "b/1.jpg", "b/2.PNG"}));
  EXPECT_EQ(list.labels, (Labels{0, 0, 1, 1}));
  EXPECT_EQ(list.class_names, (Names{"a", "b"}));
  EXPECT_TRUE(list.is_train.empty());
  EXPECT_TRUE(has_warning(list,
                          "passed over 2 files whose extension is not of a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, "
                          "BMP, JPEG XL or camera RAW image: 1 .md, 1 .txt"));
  EXPECT_TRUE(has_warning(list, "passed over 2 hidden files or folders"));
  EXPECT_TRUE(has_warning(list, "passed over 1 images that lie in"));
}

TEST(ListImages, FolderNamesKeepTheirZeros) {
  const ScratchFolder folder;
  put(folder, {"010/a.jpg", "01/a.jpg", "1/a.jpg"});
  EXPECT_EQ(list_images(folder.path()).class_names, (Names{"01", "010", "1"}));
}

TEST(ListImages, SplitsTellTrainFromTest) {
  const ScratchFolder folder;
  put(folder, {"train/cat/1.jpg", "train/dog/2.jpg", "test/dog/3.jpg", "val/cat/4.jpg"});
  const ImageList list = list_images(folder.path());
  EXPECT_EQ(relative_paths(list, folder), (Names{"test/dog/3.jpg", "train/cat/1.jpg", "train/dog/2.jpg"}));
  EXPECT_EQ(list.is_train, (Flags{0, 1, 1}));
  EXPECT_EQ(list.labels, (Labels{1, 0, 1}));
  EXPECT_TRUE(has_warning(list, "val: test is the test set"));
}

TEST(ListImages, ValIsTheTestSetWhenThereIsNoOther) {
  const ScratchFolder folder;
  put(folder, {"train/cat/1.jpg", "val/cat/4.jpg"});
  EXPECT_EQ(list_images(folder.path()).is_train, (Flags{1, 0}));
}

TEST(ListImages, AClassMayBeCalledTest) {
  const ScratchFolder folder;
  put(folder, {"test/1.jpg", "flower/2.jpg"});
  EXPECT_EQ(list_images(folder.path()).class_names, (Names{"flower", "test"}));
}

TEST(ListImages, MetadataInCsvAndJsonLines) {
  const ScratchFolder csv;
  put(csv, {"x/1.jpg", "2.jpg"});
  csv.write("metadata.csv", "file_name,label,split\nx/1.jpg,\"a, b\",train\n2.jpg,c,test\n");
  const ImageList list = list_images(csv.path());
  EXPECT_EQ(relative_paths(list, csv), (Names{"x/1.jpg", "2.jpg"}));
  EXPECT_EQ(list.class_names, (Names{"a, b", "c"}));
  EXPECT_EQ(list.is_train, (Flags{1, 0}));
  EXPECT_EQ(list_images(csv / "metadata.csv").paths, list.paths);

  fs::remove(csv / "metadata.csv");
  csv.write("metadata.jsonl",
            "{\"file_name\": \"2.jpg\", \"class\": 7}\n\n{\"class\": 3, \"file_name\": \"x/1.jpg\"}\n");
  const ImageList lines = list_images(csv.path());
  EXPECT_EQ(relative_paths(lines, csv), (Names{"2.jpg", "x/1.jpg"}));
  EXPECT_EQ(lines.class_names, (Names{"3", "7"}));
  EXPECT_EQ(lines.labels, (Labels{1, 0}));
}

TEST(ListImages, MetadataInsideSplits) {
  const ScratchFolder folder;
  put(folder, {"train/1.jpg", "test/2.jpg"});
  folder.write("train/metadata.csv", "file_name,label\n1.jpg,a\n");
  folder.write("test/metadata.csv", "file_name,label\n2.jpg,a\n");
  const ImageList list = list_images(folder.path());
  EXPECT_EQ(relative_paths(list, folder), (Names{"test/2.jpg", "train/1.jpg"}));
  EXPECT_EQ(list.is_train, (Flags{0, 1}));
}

TEST(ListImages, RejectsBrokenMetadata) {
  const ScratchFolder folder;
  put(folder, {"1.jpg", "2.jpg"});
  const auto rejected = [&](const char* name, const char* content, ErrorKind kind, const char* words) {
    const fs::path path = folder.write(name, content);
    expect_error(kind, words, [&] { list_images(folder.path()); });
    fs::remove(path);
  };
  rejected("metadata.csv", "file_name,label\n3.jpg,a\n", ErrorKind::kInput, "line 2: expected the image");
  rejected("metadata.csv", "file_name,label\n1.jpg\n", ErrorKind::kFormat, "line 2: expected 2 fields");
  rejected("metadata.csv", "id,label\n1.jpg,a\n", ErrorKind::kFormat, "line 2: expected a file_name");
  rejected("metadata.csv", "file_name,label\n1.jpg,\n", ErrorKind::kFormat, "an empty one");
  rejected("metadata.csv", "", ErrorKind::kInput, "found none");
  rejected("metadata.jsonl", "[1]\n", ErrorKind::kFormat, "line 1: expected a JSON object");
  rejected("metadata.jsonl", "{\"file_name\": \"1.jpg\", \"label\": 1}\n{\"file_name\": \"2.jpg\"}\n",
           ErrorKind::kInput, "expected a class for every image or for none");
  rejected("metadata.jsonl", "{\"file_name\": \"1.jpg\", \"is_train\": 2}\n", ErrorKind::kFormat,
           "is_train to be 0 or 1");
}

TEST(ListImages, ListsOfFewShots) {
  const ScratchFolder folder;
  put(folder, {"data/n01/n01_5.JPEG", "data/n01/n01_6.JPEG", "data/train/n02/n02_1.JPEG", "data/other/plain name.jpg"});
  const fs::path pairs = folder.write("pairs.txt", "# two\nn02 n02_1.JPEG\r\nn01 n01_6.JPEG\nmine n01/n01_5.JPEG\n");
  ImageListOptions options;
  options.list_file = pairs;
  const ImageList list = list_images(folder / "data", options);
  EXPECT_EQ(relative_paths(list, folder),
            (Names{"data/train/n02/n02_1.JPEG", "data/n01/n01_6.JPEG", "data/n01/n01_5.JPEG"}));
  EXPECT_EQ(list.class_names, (Names{"mine", "n01", "n02"}));
  EXPECT_EQ(list.labels, (Labels{2, 1, 0}));

  options.list_file = folder.write("names.txt", "n01_5.JPEG\nn02_1.JPEG\nplain name.jpg\nn01/n01_6.JPEG\nn01_5.JPEG\n");
  const ImageList names = list_images(folder / "data", options);
  EXPECT_EQ(names.class_names, (Names{"n01", "n02", "other"}));
  EXPECT_EQ(names.labels, (Labels{0, 1, 2, 0}));
  EXPECT_TRUE(has_warning(names, "listed twice"));

  put(folder, {"data/blue jay/my photo 1.jpg"});
  options.list_file = folder.write("spaces.txt", "blue jay my photo 1.jpg\n");
  const ImageList spaces = list_images(folder / "data", options);
  EXPECT_EQ(spaces.class_names, (Names{"blue jay"}));
  EXPECT_EQ(relative_paths(spaces, folder), (Names{"data/blue jay/my photo 1.jpg"}));

  options.list_file = folder.write("missing.txt", "n01_5.JPEG\nn01_7.JPEG\n");
  expect_error(ErrorKind::kInput, "missing.txt: line 2", [&] { list_images(folder / "data", options); });
}

TEST(ListImages, FlatFoldersAndSingleFilesAreNotLabelled) {
  const ScratchFolder folder;
  put(folder, {"b.jpg", "a.png"});
  const ImageList flat = list_images(folder.path());
  EXPECT_EQ(relative_paths(flat, folder), (Names{"a.png", "b.jpg"}));
  EXPECT_TRUE(flat.labels.empty());
  EXPECT_TRUE(flat.class_names.empty());
  EXPECT_EQ(relative_paths(list_images(folder / "b.jpg"), folder), (Names{"b.jpg"}));
  ImageListOptions training;
  training.for_training = true;
  expect_error(ErrorKind::kInput, "expected labelled images", [&] { list_images(folder.path(), training); });
}

TEST(ListImages, ReportsEmptyClasses) {
  const ScratchFolder folder;
  put(folder, {"a/1.jpg", "b/notes.txt"});
  const ImageList list = list_images(folder.path());
  EXPECT_EQ(list.class_names, (Names{"a"}));
  EXPECT_TRUE(
      has_warning(list, "b holds no JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW images"));
  ImageListOptions training;
  training.for_training = true;
  expect_error(ErrorKind::kInput,
               "b holds no JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW images",
               [&] { list_images(folder.path(), training); });
}

TEST(ListImages, TellsOfFoldersThatBecomeOneClass) {
  const ScratchFolder folder;
  put(folder, {"birds/owl/1.jpg", "birds/jay/2.jpg", "cats/home/1.jpg", "cats/2.jpg"});
  const ImageList list = list_images(folder.path());
  EXPECT_EQ(list.class_names, (Names{"birds", "cats"}));
  ASSERT_EQ(list.warnings.size(), 1U);
  EXPECT_TRUE(
      has_warning(list, "took the 2 folders inside " + (folder / "birds").string() + " as one class (jay, owl)"));
}

TEST(ListImages, NestedClassesAreNamedByTheirPath) {
  const ScratchFolder folder;
  put(folder, {"birds/owl/1.jpg", "birds/jay/2.jpg", "birds/jay/old/3.jpg", "oak/1.jpg"});
  ImageListOptions nested;
  nested.nested = true;
  const ImageList list = list_images(folder.path(), nested);
  EXPECT_EQ(list.class_names, (Names{"birds/jay", "birds/jay/old", "birds/owl", "oak"}));
  EXPECT_TRUE(list.warnings.empty());
}

TEST(ListImages, NestedClassesAreToldBelowTheirSplit) {
  const ScratchFolder split;
  ImageListOptions nested;
  nested.nested = true;
  put(split, {"train/birds/owl/1.jpg", "train/oak/1.jpg", "test/birds/owl/2.jpg"});
  const ImageList halves = list_images(split.path(), nested);
  EXPECT_EQ(halves.class_names, (Names{"birds/owl", "oak"}));
  EXPECT_EQ(std::count(halves.is_train.begin(), halves.is_train.end(), 1), 2);
}

TEST(ListImages, NothingToFindIsAnError) {
  const ScratchFolder folder;
  expect_error(ErrorKind::kInput, "found none", [&] { list_images(folder.path()); });
  put(folder, {"a/notes.txt"});
  expect_error(ErrorKind::kInput, "passed over 1 files", [&] { list_images(folder.path()); });
  expect_error(ErrorKind::kIo, "no such file or folder", [&] { list_images(folder / "missing"); });
}

TEST(ListImages, LinksAreFollowedButNotInCircles) {
  const ScratchFolder folder;
  put(folder, {"elsewhere/1.jpg", "root/a/2.jpg"});
  fs::create_directory_symlink(folder / "elsewhere", folder / "root/b");
  fs::create_directory_symlink(folder / "root", folder / "root/a/loop");
  fs::create_symlink(folder / "nowhere.jpg", folder / "root/a/broken.jpg");
  const ImageList list = list_images(folder / "root");
  EXPECT_EQ(list.class_names, (Names{"a", "b"}));
  EXPECT_EQ(std::count(list.paths.begin(), list.paths.end(), (folder / "root/b/1.jpg").string()), 1);
  EXPECT_LE(list.paths.size(), 4U);
  EXPECT_TRUE(has_warning(list, "broken.jpg: it cannot be read"));
}

TEST(ListImages, NamesThatAreNotUtf8ArePassedOver) {
  const ScratchFolder folder;
  put(folder, {"a/1.jpg", "a/\xFF\xFE.jpg"});
  const ImageList list = list_images(folder.path());
  EXPECT_EQ(list.paths.size(), 1U);
  EXPECT_TRUE(has_warning(list, "a/??.jpg: its name is not UTF-8 text"));
}

TEST(ListImages, MetadataNamesGroups) {
  const ScratchFolder folder;
  put(folder, {"train/1.jpg", "train/2.jpg", "train/3.jpg", "test/4.jpg"});
  folder.write("train/metadata.csv", "file_name,label,group\n1.jpg,a,film\n2.jpg,a,\n3.jpg,b,clip\n");
  folder.write("test/metadata.jsonl", "{\"file_name\": \"4.jpg\", \"label\": \"b\", \"group\": \"clip\"}\n");
  const ImageList list = list_images(folder.path());
  ASSERT_EQ(relative_paths(list, folder), (Names{"test/4.jpg", "train/1.jpg", "train/2.jpg", "train/3.jpg"}));
  EXPECT_EQ(list.groups, (Labels{0, 1, 2, 0})) << "the same name is the same group in every folder";
  fs::remove(folder / "test/metadata.jsonl");
  folder.write("test/metadata.jsonl", "{\"file_name\": \"4.jpg\", \"label\": \"b\"}\n");
  folder.write("train/metadata.csv", "file_name,label\n1.jpg,a\n2.jpg,a\n3.jpg,b\n");
  EXPECT_TRUE(list_images(folder.path()).groups.empty());
}

}  // namespace
}  // namespace annulus
