// The document of a report is the one that its JSON gives.
#include "annulus/report/documents/report_document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "annulus/report/html/html_report.h"
#include "annulus/report/tables/episodes_report.h"

namespace annulus {
namespace {

RunMetadata metadata() {
  return {{{"ibm2", "the radius, on the training examples"}},
          false,
          {4, 5},
          {{"features", "abc"}, {"test", "def"}},
          {"123", "456"},
          "a machine",
          2,
          "2026-01-31T12:00:00Z",
          "annulus evaluate"};
}

ManyWayReport many_way() {
  ManyWayReport report;
  report.ways = 3;
  report.dimension = 64;
  report.class_names = {"ash", "birch", "cedar"};
  report.results.push_back({"ncm", 1, 50.0, 0.5, {{4, 50.0, 0.0, 0.25, 3, 6}, {5, 50.0, 0.0, 0.75, 3, 6}}});
  report.results.push_back({"ibm2", 0, 62.5, 2.25, {{4, 60.0, 1.5, 12.0, 6, 6}, {5, 65.0, 2.5, 14.0, 6, 6}}});
  ManyWayResult& result = report.results.back();
  result.class_interval = 3.5;
  result.top5_mean = 87.5;
  result.macro_mean = 61.25;
  result.ece_mean = 3.25;
  result.recall = {100.0, std::numeric_limits<double>::quiet_NaN(), 25.0};
  result.confusions = {{{2, 0, 4}, 66.5, "cedar/1.jpg", "ash/2.jpg"}, {{0, 1, 1}, 12.5, "", ""}};
  result.confidence = {{0.0, 0, 0}, {2.5, 3, 4}};
  result.runs.front().search.emplace();
  result.runs.front().search->target = 0.75;
  result.runs.front().search->probes.push_back({});
  result.runs.front().search->probes.back().epsilon = 1.5;
  result.runs.front().search->probes.back().accuracy = 0.875;
  result.runs.front().search->probes.back().passed = true;
  report.comparisons = {{1, "ibm2", "ncm", {12.5, 2.0, 0.03125, 3}}};
  return report;
}

EpisodesReport episodes() {
  EpisodesReport report;
  report.dimension = 16;
  EpisodesResult result;
  result.method = "ibm2";
  result.shots = 5;
  result.mean = 80.5;
  result.standard_deviation = 7.5;
  result.worst = 55.0;
  result.worst_10 = 57.5;
  result.worst_100 = 60.25;
  result.interval = 1.25;
  result.epsilon = 2.5;
  result.seconds = 3.0;
  result.accuracies = {{80.0, 81.0}, {79.0, 82.0}};
  result.class_interval = 2.5;
  result.learning_rate = 0.0625;
  result.worst_ones = {{7, 3, 55.0, {"ash", "elm"}}};
  report.results = {result};
  report.comparisons = {{5, "ibm2", "ncm", {1.5, 2.0, 0.25, 4}}};
  return report;
}

// Every number and word of a document is on its page.
std::string page_of(const ResultsDocument& document) { return html_report(std::span(&document, 1)); }

void expect_same(const ResultsDocument& made, const std::string& json, const std::string& name) {
  const std::vector<ResultsDocument> read = parse_results(json, name);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(page_of(made), page_of(read[0]));
  ASSERT_EQ(made.results.size(), read[0].results.size());
  for (std::size_t i = 0; i < made.results.size(); ++i) {
    const MethodResult& a = made.results[i];
    const MethodResult& b = read[0].results[i];
    EXPECT_EQ(std::tie(a.epsilon, a.seconds, a.spread, a.interval, a.class_interval, a.learning_rate, a.recall),
              std::tie(b.epsilon, b.seconds, b.spread, b.interval, b.class_interval, b.learning_rate, b.recall));
    EXPECT_EQ(std::tie(a.top5, a.macro, a.calibration_error, a.worst_1, a.worst_10, a.worst_100, a.accuracies),
              std::tie(b.top5, b.macro, b.calibration_error, b.worst_1, b.worst_10, b.worst_100, b.accuracies));
  }
  EXPECT_EQ(made.metadata->checksums, read[0].metadata->checksums);
  EXPECT_EQ(made.comparisons[0].test, read[0].comparisons[0].test);
}

TEST(ReportDocument, OfManyWaysIsThatOfItsJson) {
  const ReportContext context{"a.npz", "b.npz", 4, 2, {{"recipe", "ibm2"}}, "base.npz", metadata()};
  expect_same(document_of(many_way(), context, "a report"), many_way_json(many_way(), context), "a report");
}

TEST(ReportDocument, MarksTransductiveMethodsAsItsJsonDoes) {
  ManyWayReport report = many_way();
  report.results[1].method = "alpha-tim";
  report.comparisons[0].method = "alpha-tim";
  report.query_balance = QueryBalance{2.0};
  const ReportContext context{"a.npz", "b.npz", 4, 2, {{"recipe", "ibm2"}}, "base.npz", metadata()};
  const ResultsDocument document = document_of(report, context, "a report");
  expect_same(document, many_way_json(report, context), "a report");
  EXPECT_TRUE(document.results[1].transductive);
  EXPECT_EQ(document.results[1].method, "alpha-tim (transductive)");
  EXPECT_EQ(document.comparisons[0].method, "alpha-tim (transductive)");
  EXPECT_EQ(document.results[0].method, "ncm");
  const std::string page = page_of(document);
  EXPECT_EQ(page.find(">alpha-tim<"), std::string::npos) << "nowhere without its mark";
  EXPECT_NE(page.find("Methods marked transductive see all test examples at once"), std::string::npos);
  EXPECT_NE(page.find("Dirichlet distribution with concentration 2."), std::string::npos);
  EXPECT_EQ(page_of(document_of(many_way(), context, "a report")).find("transductive"), std::string::npos);
}

TEST(ReportDocument, OfEpisodesIsThatOfItsJson) {
  EpisodesOptions options;
  options.shots = {5};
  const std::string json = episodes_json(episodes(), options, "a.npz", metadata());
  expect_same(document_of(episodes(), options, "a.npz", metadata(), "a report"), json, "a report");
}

}  // namespace
}  // namespace annulus
