// Choices in every format.
#include "annulus/report/tables/label_next_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fixtures/made_pool.h"

namespace annulus {
namespace {

TEST(LabelNextText, NamesEachChoiceAndItsReason) {
  EXPECT_EQ(label_next_text(made_choices()),
            "label these 3 of 6 examples next, the most useful first\n"
            "    1  uncertain  heap/e.png  (dog?)\n"
            "    2  new-class  heap/b, c.png  (cat?)\n"
            "    3  typical    heap/g.png\n");
}

TEST(LabelNextText, CsvQuotesPathsAndCountsRowsWithoutThem) {
  LabelSheet sheet = made_choices();
  EXPECT_EQ(label_next_csv(sheet),
            "rank,path,reason,guess,uncertainty,stands_for\n"
            "1,heap/e.png,uncertain,dog,0.7500,4\n"
            "2,\"heap/b, c.png\",new-class,cat,0.2500,1\n"
            "3,heap/g.png,typical,,,1\n");
  sheet.paths.clear();
  EXPECT_TRUE(label_next_csv(sheet).starts_with("rank,row,reason,guess,uncertainty,stands_for\n1,3,uncertain,"));
}

TEST(LabelNextText, JsonHasTheSameChoices) {
  const LabelSheet sheet = made_choices();
  const std::string lines = label_next_json_lines(sheet);
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first["rank"], 1);
  EXPECT_EQ(first["path"], "heap/e.png");
  EXPECT_EQ(first["guess"], "dog");
  const auto json = label_next_json(sheet);
  EXPECT_EQ(json["choices"].size(), 3U);
  EXPECT_EQ(json["reasons"]["new-class"], 1);
  EXPECT_EQ(json["choices"][0].dump(), lines.substr(0, lines.find('\n')));
  EXPECT_TRUE(json["choices"][2]["guess"].is_null());
}

}  // namespace
}  // namespace annulus
