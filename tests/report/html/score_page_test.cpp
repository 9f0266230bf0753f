// The page: worst examples first, names escaped, nothing loaded, long lists truncated.
#include "annulus/report/html/score_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/fixtures/made_score.h"

namespace annulus {
namespace {

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

TEST(ScorePage, ShowsTheAnswerTheMatrixAndEscapedNames) {
  const std::string page = score_page(made_score());
  EXPECT_TRUE(has(page, "50.0 of 100 right (15.0 to 85.0; chance 33.3)"));
  EXPECT_TRUE(has(page, "class=\"matrix\""));
  EXPECT_TRUE(has(page, "elm (unknown)"));
  EXPECT_TRUE(has(page, "b, &quot;&lt;b&gt;&quot;"));
  EXPECT_FALSE(has(page, "\"<b>\""));
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page, "class=\"warning\""));
  EXPECT_LT(page.find("b/5.jpg"), page.find("a/2.jpg")) << "the most confident mistake comes first";
}

TEST(ScorePage, ShowsPicturesOfMistakesAndOnlyDataOfItsOwn) {
  ScorePageOptions options;
  std::vector<std::string> asked;
  options.thumbnail = [&](const std::string& path) -> std::optional<std::string> {
    asked.push_back(path);
    return path == "a/2.jpg" ? "http://example.org/x.png" : "data:image/webp;base64,AAAA";
  };
  const std::string page = score_page(made_score(), options);
  EXPECT_EQ(asked, (std::vector<std::string>{"b/5.jpg", "a/2.jpg", "e/6.jpg"}));
  EXPECT_TRUE(has(page, "<img src=\"data:image/webp;base64,AAAA\""));
  EXPECT_FALSE(has(page, "http://example.org"));
}

TEST(ScorePage, WarnsOfTrainingExamplesAndSaysWhenNothingIsWrong) {
  ScoreReport report = made_score();
  report.trained_on = 1;
  report.worst.clear();
  report.may_reject = false;
  report.curve.clear();
  const std::string page = score_page(report);
  EXPECT_TRUE(has(page, "class=\"warning\""));
  EXPECT_TRUE(has(page, "There are none: all are right."));
  EXPECT_TRUE(has(page, "cannot reject unknown inputs"));
}

TEST(ScorePage, ManyClassesAndMistakesKeepThePageSmall) {
  ScoreReport report = made_score();
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::string name = fmt::format("class {}", i);
    report.classes.push_back({name, 1, 1, 0, 0.0, {0.0, 79.0}, 0.0});
    report.pairs.push_back({name, true, "ash", 1});
    report.worst.push_back(1);
  }
  const std::string page = score_page(report);
  EXPECT_FALSE(has(page, "class=\"matrix\""));
  EXPECT_TRUE(has(page, "The most frequent 30 of 5003 pairs"));
  EXPECT_TRUE(has(page, "1 to 200 of 5002"));
  EXPECT_TRUE(has(page, "The hardest 200 of 5003 classes"));
  EXPECT_LT(page.size(), 200000U);
}

}  // namespace
}  // namespace annulus
