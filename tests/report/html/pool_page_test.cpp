// The pages of label-next and discover: pictures where there are images, escaped names, a bounded size.
#include "annulus/report/html/pool_page.h"

#include <gtest/gtest.h>

#include "tests/fixtures/made_pool.h"

namespace annulus {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

PoolPageOptions with_pictures(std::vector<std::string>& asked) {
  PoolPageOptions options;
  options.thumbnail = [&asked](const std::string& path) {
    asked.push_back(path);
    return std::optional<std::string>("data:image/png;base64,AAAA");
  };
  return options;
}

TEST(PoolPage, ShowsAPictureForEachChoice) {
  LabelSheet sheet = made_choices();
  sheet.images = true;
  std::vector<std::string> asked;
  const std::string page = label_next_page(sheet, with_pictures(asked));
  EXPECT_EQ(asked, (std::vector<std::string>{"heap/e.png", "heap/b, c.png", "heap/g.png"}));
  EXPECT_EQ(count(page, "<img"), 3U);
  EXPECT_NE(page.find("the best guess is dog"), std::string::npos);
  EXPECT_NE(page.find("perhaps of a new class"), std::string::npos);
  EXPECT_EQ(page.find("://"), std::string::npos) << "loads nothing";
}

TEST(PoolPage, ShowsGroupsWithTheirCoverFirst) {
  GroupSheet sheet = made_groups();
  sheet.images = true;
  std::vector<std::string> asked;
  const std::string page = discover_page(sheet, with_pictures(asked));
  EXPECT_EQ(asked.front(), "heap/f.png");
  EXPECT_EQ(count(page, "<img"), 4U);
  EXPECT_NE(page.find("3 photos that look alike"), std::string::npos);
  EXPECT_NE(page.find("heap/&lt;d&gt;.png is nearly the same as heap/a.png"), std::string::npos);
  EXPECT_EQ(page.find("<d>"), std::string::npos);
}

TEST(PoolPage, FeaturesHaveNoPictures) {
  std::vector<std::string> asked;
  EXPECT_EQ(count(label_next_page(made_choices(), with_pictures(asked)), "<img"), 0U);
  EXPECT_EQ(count(discover_page(made_groups(), with_pictures(asked)), "<img"), 0U);
  EXPECT_TRUE(asked.empty());
}

TEST(PoolPage, SaysWhereAListIsCut) {
  LabelSheet sheet = made_choices();
  sheet.choices.assign(1000, sheet.choices.front());
  const std::string page = label_next_page(sheet);
  EXPECT_NE(page.find("The first 200 of 1000."), std::string::npos);
  EXPECT_LT(page.size(), 200000U);
}

}  // namespace
}  // namespace annulus
