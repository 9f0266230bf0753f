// The plots of a results document.
#include "annulus/report/plot/report_plots.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/fixtures/report_fixture.h"

namespace annulus {
namespace {

using nlohmann::json;

TEST(ReportPlots, NamesAreFileNamesAndUnique) {
  for (const char* name : {"many_way.json", "episodes.json", "older.json"}) {
    json changed = json::parse(fixture(name));
    for (auto& result : changed["results"]) {
      if (result["method"] == "ibm2") result["method"] = "../../x y/é";
    }
    std::set<std::string> names;
    for (const ReportPlot& plot : all_plots(parse_results(changed.dump(), "r").front())) {
      EXPECT_TRUE(names.insert(plot.name).second) << plot.name;
      EXPECT_TRUE(std::regex_match(plot.name, std::regex("[a-zA-Z0-9_-]+"))) << plot.name;
    }
    EXPECT_TRUE(names.contains("accuracy"));
    EXPECT_TRUE(names.contains("seconds"));
  }
}

TEST(ReportPlots, ASingleNumberOfShotsShowsMethodsSideBySide) {
  json changed = json::parse(fixture("older.json"));
  changed["results"].erase(changed["results"].begin() + 3, changed["results"].end());
  const auto plots = accuracy_plots(parse_results(changed.dump(), "r").front());
  const auto& plot = std::get<CategoryPlot>(plots.front().plot);
  EXPECT_EQ(plot.categories, (std::vector<std::string>{"ncm", "baseline", "ibm2"}));
  EXPECT_TRUE(plot.apart);
  ASSERT_EQ(plot.series.size(), 3U);
  EXPECT_FALSE(plot.series[2].values[0]);
  EXPECT_DOUBLE_EQ(plot.series[2].values[2]->value, 23.74);
}

}  // namespace
}  // namespace annulus
