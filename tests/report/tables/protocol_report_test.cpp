// The three forms of a report.
#include "annulus/report/tables/protocol_report.h"

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

TEST(Report, JsonHasTheDocumentedKeys) {
  const auto json =
      nlohmann::json::parse(many_way_json(small_report(), {"a.npz", "b.npz", 4, 2, {{"recipe", "paper"}}}));
  EXPECT_EQ(json["protocol"], "many-way");
  EXPECT_EQ(json["source"]["train"], "a.npz");
  EXPECT_EQ(json["options"]["recipe"], "paper");
  EXPECT_EQ(json["query_balance"], "all");
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
  ManyWayReport report = small_report();
  report.results[1].top5_mean = 87.5;
  report.results[1].ece_mean = 3.25;
  EXPECT_EQ(many_way_table(report),
            "shots  method       accuracy %   top-5     ECE  epsilon    seconds\n"
            "    1  ncm       50.00 ±  0.00       -       -        -      0.002\n"
            "  all  ibm2      61.50 ±  2.25   87.50    3.25    2.000       13.0\n");
}

TEST(Report, ComparisonsHaveOneLineEach) {
  const std::vector<MethodComparison> comparisons{{5, "ibm2", "baseline", {1.25, 0.5, 0.0001, 200}},
                                                  {5, "ncm", "baseline", {-2.0, 3.0, 0.25, 200}}};
  EXPECT_EQ(comparison_table(comparisons, "class"),
            "on the same splits, paired by class, difference in points with 95 % interval:\n"
            "    5  ibm2  - baseline    +1.25 ±  0.50  p < 0.001\n"
            "    5  ncm   - baseline    -2.00 ±  3.00  p = 0.250\n");
  EXPECT_EQ(comparison_table({}, "class"), "");
}

TEST(Report, CsvHasOneLinePerRun) {
  ManyWayReport report = small_report();
  report.results[1].runs[1].metrics.top5 = 90.0;
  report.results[1].runs[1].metrics.macro = 62.0;
  EXPECT_EQ(many_way_csv(report),
            "method,shots,seed,accuracy,top5,macro,ece,epsilon,seconds,transductive\n"
            "ncm,1,4,50,,0,,0,0.002,false\n"
            "ibm2,0,4,60,,0,,1.5,12,false\n"
            "ibm2,0,5,63,90,62,,2.5,14,false\n");
}

TEST(Report, TransductiveMethodsAreMarkedEverywhere) {
  ManyWayReport report = small_report();
  report.results[1].method = "tim";
  const std::vector<MethodComparison> comparisons{{1, "ncm", "tim", {1.25, 0.5, 0.0001, 200}}};
  EXPECT_NE(many_way_table(report).find("  tim (transductive)    61.50"), std::string::npos) << many_way_table(report);
  EXPECT_NE(comparison_table(comparisons, "class").find("ncm  - tim (transductive)"), std::string::npos);
  EXPECT_TRUE(many_way_csv(report).ends_with("2.5,14,true\n"));
  const auto json = nlohmann::json::parse(many_way_json(report, {"a.npz", "b.npz", 4, 2, {}}));
  EXPECT_EQ(json["results"][0]["transductive"], false);
  EXPECT_EQ(json["results"][1]["transductive"], true);
  EXPECT_EQ(json["results"][1]["method"], "tim");
}

TEST(Report, MetadataNamesWhatWasChosenOnWhichExamples) {
  RunMetadata metadata;
  const std::vector<std::string> methods{"ncm", "baseline", "ibm2"};
  metadata.chosen_on = choices_of(methods, "20 extra episodes");
  metadata.seeds = {3, 4};
  metadata.checksums["features"] = std::string(64, 'a');
  EXPECT_EQ(metadata.chosen_on["baseline"], "the learning rate, on 20 extra episodes");
  EXPECT_NE(metadata_text(metadata).find("used only to measure the accuracies"), std::string::npos);
  EXPECT_NE(metadata_text(metadata).find("features aaaaaaaaaaaa,"), std::string::npos);
  metadata.test_labels_used = true;
  EXPECT_NE(metadata_text(metadata).find("TEST LABELS WERE USED"), std::string::npos);
  ReportContext context{"a.npz", "b.npz", 4, 2, {}};
  context.metadata = metadata;
  const auto json = nlohmann::json::parse(many_way_json(small_report(), context))["metadata"];
  EXPECT_EQ(json["test_labels_used"], true);
  EXPECT_EQ(json["seeds"], (std::vector<int>{3, 4}));
  EXPECT_EQ(json["chosen_on"]["ncm"], "nothing is chosen");
}

}  // namespace
}  // namespace annulus
