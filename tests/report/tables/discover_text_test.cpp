// Groups in every format.
#include "annulus/report/tables/discover_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fixtures/made_pool.h"

namespace annulus {
namespace {

TEST(DiscoverText, TellsKindsGroupsCopiesAndOutliers) {
  EXPECT_EQ(discover_text(made_groups()),
            "grouped 4 of 6 examples from heap: about 1 kinds of things\n"
            "      3  group-001     heap/f.png\n"
            "      1  group-002     heap/b, c.png\n"
            "      1  copies and near copies\n"
            "         heap/<d>.png is nearly the same as heap/a.png\n"
            "      1  outliers, far from all others\n"
            "         heap/b, c.png\n");
}

TEST(DiscoverText, ASentenceForAGroup) {
  GroupSheet sheet = made_groups();
  EXPECT_EQ(group_sentence(sheet, 0), "3 examples that look alike");
  sheet.images = true;
  sheet.model = "birds.safetensors";
  EXPECT_EQ(group_sentence(sheet, 0),
            "3 photos that look alike and like nothing that birds.safetensors was trained on");
  EXPECT_EQ(group_sentence(made_groups(), 1), "1 example that looks like no other");
}

TEST(DiscoverText, CsvHasALineForEachRowOfAGroup) {
  const GroupSheet sheet = made_groups();
  EXPECT_EQ(discover_csv(sheet, sheet.paths),
            "file_name,label,cover,copy_of,outlier\n"
            "heap/a.png,group-001,0,,0\n"
            "\"heap/b, c.png\",group-002,1,,1\n"
            "heap/<d>.png,group-001,0,heap/a.png,0\n"
            "heap/f.png,group-001,1,,0\n");
  EXPECT_TRUE(discover_csv(sheet, {}).starts_with("row,label,cover,copy_of,outlier\n0,group-001,0,,0\n"));
}

TEST(DiscoverText, JsonNamesCoversAndMembers) {
  const GroupSheet sheet = made_groups();
  const std::string lines = discover_json_lines(sheet);
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first["cover"], "heap/f.png");
  EXPECT_EQ(first["members"].size(), 3U);
  const auto json = discover_json(sheet);
  EXPECT_EQ(json["kinds"], 1);
  EXPECT_EQ(json["sizes"].dump(), "[3,1]");
  EXPECT_EQ(json["copies"][0]["copy"], "heap/<d>.png");
  EXPECT_TRUE(json["unknown_to"].is_null());
}

TEST(DiscoverText, GroupsAreNumberedSoThatNamesSort) {
  EXPECT_EQ(group_name(0, 5), "group-001");
  EXPECT_EQ(group_name(41, 1000), "group-0042");
}

}  // namespace
}  // namespace annulus
