// The three forms of a report.
#include "annulus/eval/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace annulus {
namespace {

ManyWayReport small_report() {
  ManyWayReport report;
  report.ways = 20;
  report.dimension = 64;
  report.results.push_back({"ncm", 1, 50.0, 0.0, {{4, 50.0, 0.0, 0.002, 20, 100}}});
  report.results.push_back({"ibm2", 0, 61.5, 2.25, {{4, 60.0, 1.5, 12.0, 80, 100}, {5, 63.0, 2.5, 14.0, 80, 100}}});
  return report;
}

TEST(Report, JsonHasTheFieldsPromised) {
  const auto json =
      nlohmann::json::parse(many_way_json(small_report(), {"a.npz", "b.npz", 4, 2, {{"recipe", "paper"}}}));
  EXPECT_EQ(json["protocol"], "many-way");
  EXPECT_EQ(json["source"]["train"], "a.npz");
  EXPECT_EQ(json["options"]["recipe"], "paper");
  ASSERT_EQ(json["results"].size(), 2U);
  const auto& result = json["results"][1];
  EXPECT_EQ(result["method"], "ibm2");
  EXPECT_EQ(result["shots"], 0);
  EXPECT_EQ(result["accuracy_mean"], 61.5);
  EXPECT_EQ(result["accuracy_std"], 2.25);
  ASSERT_EQ(result["runs"].size(), 2U);
  EXPECT_EQ(result["runs"][1]["seed"], 5);
  EXPECT_EQ(result["runs"][1]["accuracy"], 63.0);
  EXPECT_EQ(result["runs"][1]["epsilon"], 2.5);
  EXPECT_EQ(result["runs"][1]["seconds"], 14.0);
}

TEST(Report, JsonReplacesFileNamesThatAreNotUtf8) {
  const auto json = nlohmann::json::parse(many_way_json(small_report(), {"\xff.npz", "b.npz", 4, 2, {}}));
  EXPECT_EQ(json["source"]["train"], "\xEF\xBF\xBD.npz");
}

TEST(Report, TableIsAlignedAndShowsMeans) {
  EXPECT_EQ(many_way_table(small_report()),
            "shots  method       accuracy %  epsilon    seconds\n"
            "    1  ncm       50.00 ±  0.00        -      0.002\n"
            "  all  ibm2      61.50 ±  2.25    2.000       13.0\n");
}

TEST(Report, CsvHasOneLineARun) {
  EXPECT_EQ(many_way_csv(small_report()),
            "method,shots,seed,accuracy,epsilon,seconds\n"
            "ncm,1,4,50,0,0.002\n"
            "ibm2,0,4,60,1.5,12\n"
            "ibm2,0,5,63,2.5,14\n");
}

}  // namespace
}  // namespace annulus
