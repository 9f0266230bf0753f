// Splits on disk: written and read, lists of rows, and what may be wrong with them.
#include "annulus/store/features/split_file.h"

#include <gtest/gtest.h>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

// Two classes of three rows; the last of each is a test example where `marked`.
FeatureSet six_rows(bool marked) {
  Matrix<float> features(6, 2);
  for (std::size_t i = 0; i < 6; ++i) features(i, 0) = 1.0F + static_cast<float>(i);
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = {0, 0, 0, 1, 1, 1};
  parts.class_names = {"cat", "dog"};
  parts.paths = {"train/cat/1.png", "train/cat/2.png", "train/cat/3.png",
                 "train/dog/1.png", "train/dog/5.png", "train/dog/6.png"};
  if (marked) parts.is_train = {1, 1, 0, 1, 1, 0};
  parts.source = "six rows";
  return FeatureSet(std::move(parts));
}

TEST(SplitFile, WhatWasWrittenIsRead) {
  const ScratchFolder folder;
  const FeatureSet set = six_rows(false);
  const std::vector<Split> splits{draw_split(set, {1, 4}), draw_split(set, {2, 5})};
  write_splits(folder / "splits.json", set, set, splits);
  const std::vector<Split> read = read_splits(folder / "splits.json", set, set);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].seed, 5U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].support, splits[i].support);
    EXPECT_EQ(read[i].query, splits[i].query);
  }
}

TEST(SplitFile, InvalidRowsAreRejected) {
  const ScratchFolder folder;
  const FeatureSet set = six_rows(false);
  const auto split = [&](const std::string& support, const std::string& query, const std::string& rows = "6") {
    return folder.write("s.json", R"({"format": "annulus-splits/1", "train_rows": )" + rows +
                                      R"(, "test_rows": 6, "splits": [{"shots": 1, "seed": 0, "support": )" + support +
                                      R"(, "query": )" + query + "}]}");
  };
  const auto rejected = [&](ErrorKind kind, const char* words, const std::filesystem::path& path) {
    expect_error(kind, words, [&] { read_splits(path, set, set); });
  };
  EXPECT_EQ(read_splits(split("[0, 3]", "[1]"), set, set).size(), 1U);
  rejected(ErrorKind::kInput, "below 6", split("[0, 6]", "[1]"));
  rejected(ErrorKind::kInput, "below 6", split("[0, -1]", "[1]"));
  rejected(ErrorKind::kInput, "none of dog", split("[0, 1]", "[2]"));
  rejected(ErrorKind::kInput, "twice", split("[0, 0, 3]", "[1]"));
  rejected(ErrorKind::kInput, "in both", split("[0, 3]", "[3]"));
  rejected(ErrorKind::kInput, "6 rows", split("[0, 3]", "[1]", "7"));
  rejected(ErrorKind::kFormat, "split file", split("{}", "[1"));
  rejected(ErrorKind::kFormat, "split file", folder.write("n.json", "[]"));
  rejected(ErrorKind::kIo, "none that can be read", folder / "missing.json");
}

TEST(RowList, NamesRowsByPathBySuffixAndByNumber) {
  const ScratchFolder folder;
  const auto list = folder.write("list.txt", "# a comment\r\ntrain/cat/2.png\r\n\n6.png\n4\n");
  const FeatureSet marked = six_rows(true);
  const Split split = read_row_list(list, marked, marked);
  EXPECT_EQ(split.support, (std::vector<std::uint32_t>{1, 4, 5}));
  EXPECT_EQ(split.query, (std::vector<std::uint32_t>{2}));  // the test examples that are not on the list
  const FeatureSet plain = six_rows(false);
  EXPECT_EQ(read_row_list(list, plain, plain).query, (std::vector<std::uint32_t>{0, 2, 3}));
  const FeatureSet other = six_rows(false);
  EXPECT_EQ(read_row_list(list, plain, other).query.size(), 6U);
}

TEST(RowList, ErrorsNameTheLine) {
  const ScratchFolder folder;
  const FeatureSet set = six_rows(false);
  const auto rejected = [&](const char* words, const char* text) {
    const auto list = folder.write("list.txt", text);
    expect_error(ErrorKind::kInput, words, [&] { read_row_list(list, set, set); });
  };
  rejected("line 2", "2.png\nbird.png\n");
  rejected("several", "1.png\n");
  rejected("none of dog", "2.png\n");
  rejected("twice", "2.png\n1\n5.png\n");
}

}  // namespace
}  // namespace annulus
