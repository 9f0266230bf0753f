// Conclusions: who is best, whether that is more than noise, which classes gain.
#include "annulus/report/documents/report_findings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace annulus {
namespace {

MethodResult result_of(const std::string& method, std::size_t shots, double accuracy) {
  MethodResult result;
  result.method = method;
  result.shots = shots;
  result.accuracy = accuracy;
  return result;
}

ResultsDocument two_methods() {
  ResultsDocument document;
  document.results = {result_of("baseline", 5, 60.0), result_of("ibm2", 5, 61.5)};
  return document;
}

TEST(Findings, ShotsAscendAndAllIsLast) {
  ResultsDocument document;
  document.results = {result_of("a", 0, 1.0), result_of("a", 16, 1.0), result_of("b", 1, 1.0), result_of("a", 1, 1.0)};
  EXPECT_EQ(shots_of(document), (std::vector<std::size_t>{1, 16, 0}));
  EXPECT_EQ(methods_of(document), (std::vector<std::string>{"a", "b"}));
}

TEST(Findings, TheDocumentsOwnTestDecides) {
  ResultsDocument document = two_methods();
  document.comparisons = {{1, "ibm2", "baseline", 9.0, 0.1, 0.0001, "of other shots"},
                          {5, "ibm2", "baseline", 1.5, 2.0, 0.012, "paired t-test"}};
  Finding finding = find_best(document, 5);
  EXPECT_EQ(finding.best->method, "ibm2");
  EXPECT_EQ(finding.next->method, "baseline");
  EXPECT_DOUBLE_EQ(finding.lead, 1.5);
  EXPECT_EQ(finding.verdict, Verdict::kMoreThanNoise);
  EXPECT_EQ(finding.reason, "p = 0.012, paired t-test");
  document.comparisons[1].p_value = 0.05;
  EXPECT_EQ(find_best(document, 5).verdict, Verdict::kMayBeNoise);
  document.comparisons[1] = {5, "baseline", "ibm2", -1.5, 0.4, std::nullopt, ""};
  finding = find_best(document, 5);
  EXPECT_EQ(finding.verdict, Verdict::kMoreThanNoise);
  EXPECT_EQ(finding.reason, "the 95 % interval of the difference is 1.10 to 1.90 points");
}

TEST(Findings, AFewSplitsAreCountedWithoutAVerdict) {
  ResultsDocument document = two_methods();
  document.results[0].runs = {{0, 59.0, {}, {}}, {1, 61.0, {}, {}}};
  document.results[1].runs = {{1, 60.5, {}, {}}, {0, 62.5, {}, {}}};
  const Finding finding = find_best(document, 5);
  EXPECT_EQ(finding.verdict, Verdict::kUnknown);
  EXPECT_EQ(finding.reason, "it was ahead in 1 of 2 splits");
}

// baseline is compared with ibm2 by evaluate; whether ncm, the next best, is worse, only the classes tell.
TEST(Findings, TheTwoBestAreTestedByTheirClasses) {
  ResultsDocument document = two_methods();
  document.results.push_back(result_of("ncm", 5, 61.0));
  document.comparisons = {{5, "ibm2", "baseline", 1.5, 0.1, 0.001, "of another pair"}};
  for (int c = 0; c < 12; ++c) {
    document.results[1].recall.push_back(50.0 + c);
    document.results[2].recall.push_back(49.0 + c + 0.01 * c);
  }
  Finding finding = find_best(document, 5);
  EXPECT_EQ(finding.next->method, "ncm");
  EXPECT_EQ(finding.verdict, Verdict::kMoreThanNoise);
  EXPECT_EQ(finding.reason, "p < 0.001, two-sided sign-flip test, paired by class");
  for (int c = 0; c < 12; c += 2) document.results[2].recall[static_cast<std::size_t>(c)] = 52.0 + c;
  finding = find_best(document, 5);
  EXPECT_EQ(finding.verdict, Verdict::kMayBeNoise);
  // Too few classes to tell anything.
  for (auto& result : document.results) result.recall.resize(std::min<std::size_t>(result.recall.size(), 5));
  EXPECT_EQ(find_best(document, 5).verdict, Verdict::kUnknown);
}

TEST(Findings, ManyEpisodesAreJudgedByTheirPairedDifferences) {
  ResultsDocument document = two_methods();
  // Differences 1 and 2 by turns: mean 1.5, deviation 0.5064 over 40, half width 1.96 * 0.5064 / sqrt(40).
  document.results[0].accuracies.resize(1);
  document.results[1].accuracies.resize(1);
  for (int i = 0; i < 40; ++i) {
    const double level = 20.0 + i;
    document.results[0].accuracies[0].push_back(level);
    document.results[1].accuracies[0].push_back(level + 1.0 + i % 2);
  }
  Finding finding = find_best(document, 5);
  EXPECT_EQ(finding.verdict, Verdict::kMoreThanNoise);
  EXPECT_EQ(finding.reason, "the 95 % interval of the difference is 1.34 to 1.66 points");
  for (int i = 0; i < 40; ++i)
    document.results[1].accuracies[0][static_cast<std::size_t>(i)] += i % 2 == 0 ? 9.0 : -12.0;
  finding = find_best(document, 5);
  EXPECT_EQ(finding.verdict, Verdict::kMayBeNoise);
}

TEST(Findings, Sentences) {
  ResultsDocument document = two_methods();
  EXPECT_EQ(headline(document),
            "ibm2 is the most accurate of 2 methods at 5 shots. The lead over the next best could not be tested.");
  document.comparisons = {{5, "ibm2", "baseline", 1.5, 2.0, 0.012, "t"}};
  EXPECT_EQ(finding_sentence(find_best(document, 5)),
            "ibm2 gets 61.50 % right, 1.50 points more than the plain head (baseline), the next best.");
  document.results.push_back(result_of("ibm2", 1, 30.0));
  document.results.push_back(result_of("baseline", 1, 40.0));
  document.results.push_back(result_of("ibm2", 0, 80.0));
  EXPECT_EQ(
      headline(document),
      "The plain head (baseline) is the most accurate of 2 methods at 1 shot and ibm2 at 5 and all shots. The lead "
      "over the next best is more than noise at 5 shots and could not be tested at 1 shot.");
  ResultsDocument fit;
  fit.results = {result_of("default", 1, 70.0)};
  EXPECT_EQ(headline(fit), "What fit does (default) is the only method measured at 1 shot.");
  EXPECT_EQ(method_words("default"), "what fit does (default)");
  EXPECT_EQ(method_words("my-method"), "my-method");
  EXPECT_EQ(finding_sentence(find_best(document, 0)),
            "ibm2 gets 80.00 % right; there is no other method to compare it with.");
  document.results[0].accuracy = 61.5;
  EXPECT_EQ(finding_sentence(find_best(document, 5)), "the plain head (baseline) gets 61.50 % right, as much as ibm2.");
  EXPECT_EQ(p_value_text(0.0005), "p < 0.001");
  EXPECT_EQ(p_value_text(0.25), "p = 0.25");
}

TEST(Findings, TitlesNameTheFileWithoutItsFolders) {
  ResultsDocument document = two_methods();
  document.name = "results/r.json";
  EXPECT_EQ(document_title(document), "All classes at once: r.json");
  document.train_source = "demo/emoji/";
  EXPECT_EQ(document_title(document), "All classes at once: emoji");
  document.train_source = "/";
  EXPECT_EQ(document_title(document), "All classes at once: /");
  document.train_source = document.name = "";
  EXPECT_EQ(document_title(document), "All classes at once: ");
}

// 20 classes, listed so that sorting matters; class i has baseline accuracy i and gains 10 + i in the first half, loses
// i in the second.
TEST(Findings, TenBinsOfClassesByBaselineAccuracy) {
  ResultsDocument document = two_methods();
  for (std::size_t i = 0; i < 20; ++i) {
    const auto level = static_cast<double>((7 * i) % 20);
    document.results[0].recall.push_back(level);
    document.results[1].recall.push_back(level < 10.0 ? level + 10.0 + level : 0.0);
  }
  const std::vector<GainBin> bins = class_gain(document, 5);
  ASSERT_EQ(bins.size(), 10U);
  for (std::size_t b = 0; b < 10; ++b) {
    const double middle = 2.0 * static_cast<double>(b) + 0.5;
    EXPECT_EQ(bins[b].classes, 2U);
    EXPECT_DOUBLE_EQ(bins[b].baseline, middle);
    EXPECT_DOUBLE_EQ(bins[b].gain, b < 5 ? 10.0 + middle : -middle);
  }
}

TEST(Findings, BinsAreEqualWithinOneClassAndLeaveOutUntestedClasses) {
  ResultsDocument document = two_methods();
  for (std::size_t i = 0; i < 34; ++i) {
    document.results[0].recall.push_back(static_cast<double>(i));
    document.results[1].recall.push_back(static_cast<double>(i) + 1.0);
  }
  document.results[0].recall[3].reset();
  const std::vector<GainBin> bins = class_gain(document, 5);
  std::size_t classes = 0;
  for (const GainBin& bin : bins) {
    EXPECT_GE(bin.classes, 3U);
    EXPECT_LE(bin.classes, 4U);
    EXPECT_NEAR(bin.gain, 1.0, 1e-12);
    classes += bin.classes;
  }
  EXPECT_EQ(classes, 33U);
  document.results[1].recall.resize(9);
  EXPECT_TRUE(class_gain(document, 5).empty());
  EXPECT_TRUE(class_gain(document, 1).empty());
}

}  // namespace
}  // namespace annulus
