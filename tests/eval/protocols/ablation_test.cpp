// Ablations: what each kind varies, the comparison methods, and which labels are used for choices.
#include "annulus/eval/protocols/ablation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "annulus/report/tables/ablation_report.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/quick_recipe.h"
#include "tests/fixtures/small_set.h"

namespace annulus {
namespace {

AblationOptions quick_ablation(const std::string& what) {
  AblationOptions options;
  options.what = what;
  options.shots = {2};
  options.beside = {"ncm", "baseline"};
  options.recipe = quick_recipe();
  set_epochs(options.recipe, 5);
  return options;
}

AblationReport run(const AblationOptions& options, const ProgressCallback& progress = {}) {
  const FeatureSet set = small_set();
  return ablate([&](std::size_t shots) { return splits_of_examples(set, shots, 2, {}); }, options, progress);
}

std::vector<std::string> names_of(const AblationReport& report) {
  std::vector<std::string> names;
  for (const AblationRow& row : report.rows) names.push_back(row.name);
  return names;
}

TEST(Ablation, RowsAreTheComparisonMethodsThenTheValues) {
  AblationOptions options = quick_ablation("virtual");
  options.values = {"2", "8"};
  std::size_t total = 0;
  std::size_t last = 0;
  const AblationReport report = run(options, [&](const Progress& progress) {
    total = progress.total;
    last = std::max(last, progress.done);
    return true;
  });
  EXPECT_EQ(names_of(report), (std::vector<std::string>{"ncm", "baseline", "ibm2, R 2", "ibm2, R 8"}));
  EXPECT_TRUE(report.rows[1].beside);
  EXPECT_FALSE(report.rows[2].beside);
  EXPECT_EQ(report.rows[2].score.runs.size(), 2U);
  EXPECT_EQ(total, 8U);
  EXPECT_EQ(last, 7U);
}

TEST(Ablation, AVariantEqualsEvaluate) {
  const FeatureSet set = small_set();
  const AblationOptions options = quick_ablation("classes");
  const AblationReport report = run(options);
  ManyWayOptions protocol;
  protocol.shots = {2};
  protocol.split_count = 2;
  protocol.methods = {"ncm", "baseline", "ibm2"};
  protocol.recipe = options.recipe;
  const ManyWayReport evaluated = evaluate_many_way(set, protocol);
  ASSERT_EQ(report.rows.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report.rows[i].name, evaluated.results[i].method);
    EXPECT_DOUBLE_EQ(report.rows[i].score.accuracy.mean, evaluated.results[i].accuracy_mean);
    EXPECT_EQ(report.rows[i].score.runs[1].epsilon, evaluated.results[i].runs[1].epsilon);
  }
  ASSERT_EQ(report.gains.size(), 1U);
  EXPECT_EQ(report.gains[0].gain.bins.size(), 10U);
}

TEST(Ablation, EveryKindVariesSomething) {
  for (const char* what : {"schema", "head", "probes", "search"}) {
    AblationOptions options = quick_ablation(what);
    options.beside = {"ncm"};
    if (options.what == "probes") options.values = {"0.3", "0.95"};
    const AblationReport report = run(options);
    ASSERT_GE(report.rows.size(), 3U) << what;
    const auto epsilon = [&](const AblationRow& row) { return row.score.epsilon; };
    EXPECT_NE(epsilon(report.rows[1]), epsilon(report.rows.back())) << what;
  }
  // An easier task leaves room for a larger radius.
  AblationOptions thresholds = quick_ablation("probes");
  thresholds.beside = {"ncm"};
  thresholds.values = {"0.3", "0.95"};
  const AblationReport report = run(thresholds);
  EXPECT_GT(report.rows[1].score.epsilon, report.rows[2].score.epsilon);
}

TEST(Ablation, SvmsAreComparedWithIbm2) {
  EXPECT_EQ(names_of(run(quick_ablation("svm"))),
            (std::vector<std::string>{"ncm", "baseline", "svm", "linear-svm", "ibm2"}));
}

TEST(Ablation, TheBestRateIsMarkedAsChosenOnTestLabels) {
  AblationOptions options = quick_ablation("lr");
  options.values = {"0.001", "0.1"};
  const AblationReport report = run(options);
  EXPECT_EQ(names_of(report),
            (std::vector<std::string>{"ncm", "baseline, default lr 0.1", "baseline, lr 0.001", "baseline, lr 0.1",
                                      "ibm2, default lr 0.1", "ibm2, lr 0.001", "ibm2, lr 0.1"}));
  EXPECT_TRUE(report.rows[3].best_on_test_labels);
  EXPECT_FALSE(report.rows[1].best_on_test_labels);
  EXPECT_GT(report.rows[3].score.accuracy.mean, report.rows[2].score.accuracy.mean);
  EXPECT_NE(ablation_table(report, false).find("best of these ON THE TEST LABELS"), std::string::npos);
  EXPECT_NE(ablation_table(report, true).find("\033[1;31mbest of these"), std::string::npos);
  const auto json = nlohmann::json::parse(ablation_json(report, {"x.npz", 0, 2, {}}));
  EXPECT_TRUE(uses_test_labels(report));
  EXPECT_EQ(json["results"][3]["best_on_test_labels"], true);
}

TEST(Ablation, FormatsHoldTheSameValues) {
  const AblationReport report = run(quick_ablation("classes"));
  const std::string number = fmt::format("{:.2f} ± ", report.rows[2].score.accuracy.mean);
  EXPECT_NE(ablation_table(report, false).find(number), std::string::npos);
  EXPECT_NE(ablation_markdown(report).find("| 2 | ibm2 | " + number), std::string::npos);
  const std::string csv = ablation_csv(report);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
  const auto json = nlohmann::json::parse(ablation_json(report, {"x.npz", 0, 2, {}}));
  EXPECT_EQ(json["protocol"], "many-way");
  EXPECT_EQ(json["ablation"], "classes");
  EXPECT_EQ(json["gains"][0]["bins"].size(), 10U);
  EXPECT_EQ(json["results"][2]["recall"].size(), 12U);
  EXPECT_FALSE(uses_test_labels(report));
}

TEST(Ablation, InvalidValuesAreRejectedBeforeTraining) {
  const auto rejected = [](const std::string& what, const std::string& value) {
    AblationOptions options = quick_ablation(what);
    options.values = {value};
    try {
      ablate([](std::size_t) { return SplitSource{}; }, options);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kUsage;
    }
    return false;
  };
  EXPECT_TRUE(rejected("virtual", "0"));
  EXPECT_TRUE(rejected("virtual", "many"));
  EXPECT_TRUE(rejected("schema", "cubic"));
  EXPECT_TRUE(rejected("probes", "1.5"));
  EXPECT_TRUE(rejected("lr", "-1"));
  EXPECT_TRUE(rejected("head", "deep"));
  EXPECT_TRUE(rejected("search", "magic"));
  EXPECT_TRUE(rejected("svm", "forest"));
  EXPECT_TRUE(rejected("classes", "3"));
  EXPECT_TRUE(rejected("nothing", "3"));
}

}  // namespace
}  // namespace annulus
