// Records of metadata files, and the boxes in them.
#include "annulus/store/images/metadata_records.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::vector<MetadataRecord> records_of(const std::filesystem::path& file) {
  std::vector<MetadataRecord> records;
  read_metadata_records(file, [&](const MetadataRecord& record, const std::string&) { records.push_back(record); });
  return records;
}

TEST(MetadataRecords, OfCsvAndOfJsonLines) {
  const ScratchFolder folder;
  const MetadataRecord first = {
      {"file_name", "a, b.jpg"}, {"label", "7"}, {"x", "0.5"}, {"y", "1"}, {"width", "2"}, {"height", "3"}};
  EXPECT_EQ(records_of(folder.write("m.csv", "file_name,label,x,y,width,height\n\"a, b.jpg\",7,0.5,1,2,3\n")),
            std::vector{first});
  EXPECT_EQ(
      records_of(folder.write(
          "m.jsonl", "\n{\"file_name\": \"a, b.jpg\", \"label\": 7, \"bbox\": [0.5, 1, 2, 3], \"score\": 0.5}\n")),
      std::vector{first});
}

TEST(MetadataRecords, ComplainWithTheLine) {
  const ScratchFolder folder;
  const auto rejected = [&](const char* name, const char* text, const std::string& words) {
    const auto path = folder.write(name, text);
    expect_error(ErrorKind::kFormat, path.string() + words, [&] { records_of(path); });
  };
  rejected("m.csv", "a,b\n1,2\n3\n", ": line 3: expected 2 fields as in the first line, found 1");
  rejected("m.jsonl", "\n[1]\n", ": line 2: expected a JSON object");
  rejected("m.jsonl", "{\"bbox\": [1, 2, 3]}\n", ": line 1: expected bbox to be four numbers");
}

TEST(MetadataRecords, BoxesHaveFourNumbers) {
  EXPECT_EQ(box_of_record({{"x", "1"}, {"y", "2"}, {"width", "3"}, {"height", "4.5"}}, "w"), (MediaBox{1, 2, 3, 4.5}));
  EXPECT_EQ(box_of_record({{"width", "640"}, {"height", "480"}}, "w"), std::nullopt);  // the size of the picture
  EXPECT_EQ(box_of_record({{"x", ""}, {"y", ""}, {"width", ""}, {"height", ""}}, "w"), std::nullopt);
  expect_error(ErrorKind::kFormat, "w: expected a number for y of the box, found \"two\"", [] {
    box_of_record({{"x", "1"}, {"y", "two"}, {"width", "3"}, {"height", "4"}}, "w");
  });
  expect_error(ErrorKind::kFormat, "w: expected a box with a width and a height above 0, found 1,2,0,4", [] {
    box_of_record({{"x", "1"}, {"y", "2"}, {"width", "0"}, {"height", "4"}}, "w");
  });
}

TEST(MetadataRecords, RelativeBoxesAreTold) {
  EXPECT_TRUE(may_be_relative({0, 0, 1, 1}));
  EXPECT_TRUE(may_be_relative({0.25, 0.5, 0.75, 0.501}));
  EXPECT_FALSE(may_be_relative({0, 0, 1, 2}));
  EXPECT_FALSE(may_be_relative({1, 0, 1, 1}));
  EXPECT_EQ(percent_box({0.25, 0.5, 0.125, 1}), (MediaBox{25, 50, 12.5, 100, true}));
}

}  // namespace
}  // namespace annulus
