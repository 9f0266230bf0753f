// The page: all sections of a full document, only those that apply of others, nothing loaded, nothing run.
#include "annulus/report/html/html_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/fixtures/report_fixture.h"

namespace annulus {
namespace {

using nlohmann::json;

std::string page_of(const std::string& text, const HtmlReportOptions& options = {}) {
  return html_report(parse_results(text, "r.json"), options);
}

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

std::vector<std::string> headings(const std::string& page) {
  static const std::regex kHeading(R"re(<h3 id="[^"]*">([^<]*)</h3>)re");
  std::vector<std::string> found;
  for (std::sregex_iterator match(page.begin(), page.end(), kHeading), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

// Tags are closed in the order they were opened, and no id is given twice.
void expect_well_formed(const std::string& page) {
  static const std::regex kTag(R"re(<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^>"]|"[^"]*")*?)(/?)>)re");
  static const std::regex kId(R"re( id="([^"]*)")re");
  const std::set<std::string> empty_tags{"meta", "link", "br", "img"};
  std::vector<std::string> open;
  std::set<std::string> ids;
  // Style and script hold no tags.
  const std::string text = std::regex_replace(page.substr(page.find("<html")),
                                              std::regex(R"re(<(style|script)>[^<]*</(style|script)>)re"), "");
  for (std::sregex_iterator match(text.begin(), text.end(), kTag), end; match != end; ++match) {
    const std::string name = (*match)[2];
    std::smatch id;
    const std::string attributes = (*match)[3];
    if (std::regex_search(attributes, id, kId)) {
      EXPECT_TRUE(ids.insert(id[1]).second) << "twice: " << id[1];
    }
    if ((*match)[1].length() > 0) {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    } else if ((*match)[4].length() == 0 && !empty_tags.contains(name)) {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(HtmlReport, AFullDocumentHasEverySection) {
  const std::string page = page_of(fixture("many_way.json"));
  EXPECT_EQ(headings(page),
            (std::vector<std::string>{"Accuracy", "Is the difference more than noise?", "Which classes gain from ibm2?",
                                      "Confused classes", "Is the confidence calibrated?", "How the radius was found",
                                      "Time", "The methods", "How these results were produced"}));
  EXPECT_TRUE(has(page, "ibm2 is the most accurate of 4 methods at 1, 5 and 16 shots."));
  EXPECT_TRUE(has(page, "✓ The difference is more than noise</span> (p &lt; 0.001, paired t-test over classes)."));
  EXPECT_TRUE(has(page, "≈ The difference may be noise</span> (p = 0.31"));
  EXPECT_TRUE(has(page, "No test label was used to choose settings."));
  EXPECT_TRUE(has(page, "sha256:0123456789abcdef"));
  expect_well_formed(page);
}

TEST(HtmlReport, EpisodesHaveTheirOwnSections) {
  const std::string page = page_of(fixture("episodes.json"));
  EXPECT_EQ(headings(page), (std::vector<std::string>{"Accuracy", "Worst episodes", "Time", "The methods",
                                                      "How these results were produced"}));
  EXPECT_TRUE(has(page, "The worst episodes of the most accurate method"));
  expect_well_formed(page);
}

TEST(HtmlReport, OlderDocumentsLeaveSectionsOut) {
  const std::string page = page_of(fixture("older.json"));
  EXPECT_EQ(headings(page),
            (std::vector<std::string>{"Accuracy", "Time", "The methods", "How these results were produced"}));
  EXPECT_TRUE(
      has(page, "Whether the difference is more than noise was not tested</span> (it was ahead in 2 of 2 splits)"));
  expect_well_formed(page);
  const std::string least =
      page_of(R"({"protocol":"many-way","results":[{"method":"x","shots":1,"accuracy_mean":50}]})");
  EXPECT_EQ(headings(least), (std::vector<std::string>{"Accuracy", "How these results were produced"}));
  expect_well_formed(least);
}

// Whatever single key is missing, there is a page.
TEST(HtmlReport, EveryKeyMayBeMissing) {
  for (const char* name : {"many_way.json", "episodes.json"}) {
    const json whole = json::parse(fixture(name));
    for (const auto& [key, value] : whole.items()) {
      if (key == "protocol" || key == "results") continue;
      json changed = whole;
      changed.erase(key);
      expect_well_formed(page_of(changed.dump()));
    }
    for (const auto& [key, value] : whole["results"][0].items()) {
      if (key == "method" || key == "shots" || key == "accuracy_mean" || key == "acc_m") continue;
      json changed = whole;
      for (auto& result : changed["results"]) result.erase(key);
      expect_well_formed(page_of(changed.dump()));
    }
  }
}

TEST(HtmlReport, UseOfTestLabelsIsAWarning) {
  EXPECT_FALSE(has(page_of(fixture("many_way.json")), "class=\"warning\""));
  json changed = json::parse(fixture("many_way.json"));
  changed["metadata"]["test_labels_used"] = true;
  const std::string page = page_of(changed.dump());
  EXPECT_TRUE(has(page, "class=\"warning\" role=\"note\">⚠ The labels of the test set were used to choose settings."));
  EXPECT_LT(page.find("class=\"warning\""), page.find("class=\"lead\""));
}

TEST(HtmlReport, NamesCannotBecomeMarkup) {
  json changed = json::parse(fixture("many_way.json"));
  const std::string hostile = "</script><img src=x onerror=alert(1)>\"'&";
  for (auto& result : changed["results"]) {
    if (result["method"] == "ncm") result["method"] = hostile;
    for (auto& pair : result["confusions"]) pair["truth"] = hostile;
  }
  changed["source"]["train"] = hostile;
  changed["version"] = hostile;
  changed["options"] = {{hostile, hostile}};
  changed["metadata"]["command"] = changed["metadata"]["machine"] = hostile;
  changed["metadata"]["chosen_on"] = {{hostile, hostile}};
  const std::string page = html_report(parse_results(changed.dump(), hostile));
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page, "</script><"));
  EXPECT_TRUE(has(page, "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
  expect_well_formed(page);
}

TEST(HtmlReport, NothingIsLoaded) {
  const std::string page = page_of(fixture("many_way.json"));
  EXPECT_TRUE(has(page, "default-src 'none'"));
  static const std::regex kAddress(R"re((src|href)="(?!#|data:))re");
  EXPECT_FALSE(std::regex_search(page, kAddress));
  EXPECT_FALSE(has(page, "url("));
  EXPECT_FALSE(has(page, "@import"));
}

TEST(HtmlReport, PicturesComeFromTheCallback) {
  HtmlReportOptions options;
  std::vector<std::string> asked;
  options.thumbnail = [&](std::size_t document, const std::string& path) -> std::optional<std::string> {
    EXPECT_EQ(document, 0U);
    asked.push_back(path);
    if (path == "missing.jpg") return std::nullopt;
    if (path.find("png") != std::string::npos) return "https://example.org/x.png";
    return "data:image/webp;base64,AAAA";
  };
  const std::string page = page_of(fixture("many_way.json"), options);
  EXPECT_EQ(asked.size(), 12U);  // two for each of the six pairs that name pictures
  EXPECT_TRUE(has(page, "<img src=\"data:image/webp;base64,AAAA\" alt=\"Test example of &lt;b&gt;bold&lt;/b&gt;"));
  EXPECT_FALSE(has(page, "https://example.org"));
  expect_well_formed(page);
}

TEST(HtmlReport, SeveralDocumentsStartWithASummary) {
  std::vector<ResultsDocument> documents =
      parse_results(merge_results(std::vector{fixture("many_way.json"), fixture("episodes.json")}), "m");
  const std::string page = html_report(documents);
  EXPECT_TRUE(has(page,
                  "<a href=\"#d2-top\">Episodes: novel.npz</a>: ibm2 is the most accurate of 4 methods at 1 and 5 "
                  "shots. The lead over the next best "));
  EXPECT_TRUE(has(page, "With 5 shots ibm2 gets"));
  expect_well_formed(page);
}

}  // namespace
}  // namespace annulus
