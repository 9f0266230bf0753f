// The many-way protocol on sets with known results.
#include "annulus/eval/protocols/many_way.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/quick_recipe.h"

namespace annulus {
namespace {

ManyWayOptions quick_options(std::vector<std::string> methods) {
  ManyWayOptions options;
  options.methods = std::move(methods);
  options.recipe = quick_recipe();
  return options;
}

// Rows of class c point along axis c; the first `wrong` rows of class 0 point along axis 1 instead.
FeatureSet axes_set(std::size_t classes, std::size_t rows_a_class, std::size_t wrong, std::vector<std::string> names) {
  Matrix<float> features(classes * rows_a_class, classes);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < features.rows(); ++i) {
    const std::size_t label = i / rows_a_class;
    const bool mislead = label == 0 && i % rows_a_class < wrong;
    features(i, mislead ? 1 : label) = 1.0F + 0.01F * static_cast<float>(i % rows_a_class);
    features(i, classes - 1 - label) += 0.01F;
    labels.push_back(static_cast<std::int32_t>(label));
  }
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = std::move(labels);
  parts.class_names = std::move(names);
  parts.source = "axes";
  return FeatureSet(std::move(parts));
}

std::string rejection(ErrorKind kind, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return {};
}

TEST(ManyWay, GivenSplitsReproduceTheResultsOfTheirSeeds) {
  SyntheticOptions small;
  small.classes = 10;
  small.dimension = 16;
  const FeatureSet set = make_synthetic(small);
  ManyWayOptions options = quick_options({"ncm", "baseline"});
  options.shots = {1, 2};
  options.split_count = 2;
  const ManyWayReport drawn = evaluate_many_way(set, options);
  options.splits = drawn.splits;
  const ManyWayReport fixed = evaluate_many_way(set, options);
  ASSERT_EQ(fixed.results.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(fixed.results[i].shots, drawn.results[i].shots);
    EXPECT_EQ(fixed.results[i].recall, drawn.results[i].recall);
  }
}

TEST(ManyWay, CachedRunsAreNotRunAgain) {
  SyntheticOptions small;
  small.classes = 10;
  small.dimension = 16;
  const FeatureSet set = make_synthetic(small);
  ManyWayOptions options = quick_options({"ncm", "baseline", "ibm2"});
  options.shots = {1};
  options.split_count = 2;
  std::map<std::string, ManyWayRun> kept;
  options.cached_runs.find = [&](const std::string& key) {
    const auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  };
  std::size_t computed = 0;
  options.cached_runs.keep = [&](const std::string& key, const ManyWayRun& run) {
    ++computed;
    kept[key] = run;
  };
  const ManyWayReport first = evaluate_many_way(set, options);
  EXPECT_EQ(computed, 6U);
  const ManyWayReport again = evaluate_many_way(set, options);
  EXPECT_EQ(computed, 6U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again.results[i].accuracy_mean, first.results[i].accuracy_mean);
    EXPECT_EQ(again.results[i].recall, first.results[i].recall);
  }
  set_learning_rate(options.recipe, 0.07);
  evaluate_many_way(set, options);
  EXPECT_EQ(computed, 12U);
  options.data_name = "other features";
  evaluate_many_way(set, options);
  EXPECT_EQ(computed, 18U);
}

TEST(ManyWay, ComparesWithTheReferenceMethodClassByClass) {
  const FeatureSet train = axes_set(4, 2, 0, {"a", "b", "c", "d"});
  const FeatureSet test = axes_set(4, 10, 3, {"a", "b", "c", "d"});
  ManyWayOptions options = quick_options({"ncm", "knn"});
  options.shots = {1};
  options.split_count = 1;
  options.against = "knn";
  const ManyWayReport report = evaluate_many_way(train, test, options);
  ASSERT_EQ(report.comparisons.size(), 1U);
  EXPECT_EQ(report.comparisons[0].method, "ncm");
  EXPECT_EQ(report.comparisons[0].paired.pairs, 4U);
  EXPECT_EQ(report.comparisons[0].paired.difference, 0.0);
  const ManyWayResult& ncm = report.results[0];
  EXPECT_DOUBLE_EQ(ncm.recall[0], 70.0);
  EXPECT_DOUBLE_EQ(ncm.recall[1], 100.0);
  EXPECT_DOUBLE_EQ(ncm.macro_mean, 92.5);
  ASSERT_EQ(ncm.confusions.size(), 1U);
  EXPECT_EQ(ncm.confusions[0].pair.truth, 0);
  EXPECT_EQ(ncm.confusions[0].pair.predicted, 1);
  EXPECT_DOUBLE_EQ(ncm.confusions[0].fraction, 30.0);
  options.against = "svm";
  EXPECT_NE(rejection(ErrorKind::kUsage, [&] { evaluate_many_way(train, test, options); }).find("ncm, knn"),
            std::string::npos);
}

TEST(ManyWay, ATrainingSeedChangesTheTrainingAndNotTheSplit) {
  SyntheticOptions small;
  small.classes = 30;
  small.dimension = 32;
  const FeatureSet set = make_synthetic(small);
  ManyWayOptions options = quick_options({"ncm", "ibm2"});
  options.shots = {2};
  options.split_count = 1;
  options.recipe.epsilon = 1.0;
  const ManyWayReport first = evaluate_many_way(set, options);
  options.training_seed = 1000;
  const ManyWayReport second = evaluate_many_way(set, options);
  EXPECT_EQ(first.results[0].runs[0].accuracy, second.results[0].runs[0].accuracy) << "the rows are the same";
  EXPECT_NE(first.results[1].runs[0].accuracy, second.results[1].runs[0].accuracy);
}

TEST(ManyWay, EveryMethodSolvesSeparatedClasses) {
  const FeatureSet set = axes_set(6, 7, 0, {});
  const ManyWayReport report = evaluate_many_way(set, quick_options({"ncm", "baseline", "ibm2"}));
  EXPECT_EQ(report.ways, 6U);
  EXPECT_EQ(report.dimension, 6U);
  ASSERT_EQ(report.results.size(), 6U);
  for (const ManyWayResult& result : report.results) {
    EXPECT_EQ(result.accuracy_mean, 100.0) << result.method;
    EXPECT_EQ(result.accuracy_std, 0.0) << result.method;
    EXPECT_EQ(result.runs.size(), 3U);
  }
}

TEST(ManyWay, TestExamplesMayBeDrawnByABalance) {
  SyntheticOptions data;
  data.classes = 6;
  data.dimension = 8;
  data.test_rows = 10;
  const FeatureSet set = make_synthetic(data);
  ManyWayOptions options = quick_options({"ncm", "pt-map"});
  options.shots = {1};
  const ManyWayReport whole = evaluate_many_way(set, options);
  EXPECT_EQ(whole.splits[0].query.size(), 60U);
  EXPECT_FALSE(whole.query_balance);
  options.query_balance = QueryBalance{1.0};
  const ManyWayReport drawn = evaluate_many_way(set, options);
  ASSERT_EQ(drawn.splits.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(drawn.splits[i].support, whole.splits[i].support);
    EXPECT_LT(drawn.splits[i].query.size(), 60U);
    EXPECT_EQ(drawn.results[0].runs[i].query_examples, drawn.splits[i].query.size());
    EXPECT_EQ(drawn.results[1].runs[i].query_examples, drawn.splits[i].query.size());
  }
  EXPECT_NE(drawn.splits[0].query, drawn.splits[1].query);
  EXPECT_EQ(drawn.query_balance, (QueryBalance{1.0}));
}

TEST(ManyWay, ATransductiveMethodSeesAllTestExamplesAtOnce) {
  SyntheticOptions data;
  data.classes = 6;
  data.dimension = 8;
  data.noise = 1.2;
  const FeatureSet set = make_synthetic(data);
  ManyWayOptions options = quick_options({"tim"});
  options.shots = {1};
  options.split_count = 1;
  const ManyWayReport report = evaluate_many_way(set, options);
  const ManyWayRun& run = report.results[0].runs[0];
  const Split& split = report.splits[0];
  const QueryScores all = method_named("tim").score_queries(
      gather(set, split.support), gather(set, split.query).features.view(), {options.recipe}, {});
  std::size_t correct = 0;
  for (std::size_t i = 0; i < split.query.size(); ++i) {
    if (static_cast<std::int32_t>(argmax(all.scores.row(i))) == set.labels()[split.query[i]]) ++correct;
  }
  EXPECT_DOUBLE_EQ(run.accuracy, 100.0 * static_cast<double>(correct) / static_cast<double>(split.query.size()));
  EXPECT_TRUE(run.metrics.top5);
  EXPECT_TRUE(run.metrics.ece);
  EXPECT_GT(run.seconds, 0.0);
}

TEST(ManyWay, TestsOnTheSecondSetWithClassesMatchedByName) {
  const FeatureSet train = axes_set(3, 2, 0, {"ant", "bee", "cat"});
  // 2 of the 4 rows of the first class point along the second axis: 10 of 12 answers are right.
  const FeatureSet test = axes_set(3, 4, 2, {"ant", "bee", "cat"});
  ManyWayOptions options = quick_options({"ncm"});
  options.shots = {1, 2};
  const ManyWayReport report = evaluate_many_way(train, test, options);
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_DOUBLE_EQ(report.results[0].accuracy_mean, 100.0 * 10.0 / 12.0);
  EXPECT_EQ(report.results[0].runs[0].query_examples, 12U);
  EXPECT_EQ(report.results[1].runs[0].support_examples, 6U);
  // Under swapped names the labels of the first two classes no longer agree with their directions.
  const FeatureSet swapped = axes_set(3, 4, 0, {"bee", "ant", "cat"});
  EXPECT_DOUBLE_EQ(evaluate_many_way(train, swapped, options).results[0].accuracy_mean, 100.0 / 3.0);
}

TEST(ManyWay, ReportsShotsAndMethodsInTheOrderOfTheOptions) {
  const FeatureSet set = axes_set(4, 6, 0, {});
  ManyWayOptions options = quick_options({"baseline", "ncm"});
  options.shots = {3, 1};
  options.split_count = 2;
  options.seed = 7;
  const ManyWayReport report = evaluate_many_way(set, options);
  ASSERT_EQ(report.results.size(), 4U);
  EXPECT_EQ(report.results[0].method, "baseline");
  EXPECT_EQ(report.results[1].method, "ncm");
  EXPECT_EQ(report.results[1].shots, 3U);
  EXPECT_EQ(report.results[2].shots, 1U);
  ASSERT_EQ(report.results[3].runs.size(), 2U);
  EXPECT_EQ(report.results[3].runs[0].seed, 7U);
  EXPECT_EQ(report.results[3].runs[1].seed, 8U);
  EXPECT_EQ(report.results[3].runs[0].query_examples, 20U);
}

TEST(ManyWay, MeanAndSpreadAreThoseOfTheRuns) {
  SyntheticOptions data;
  data.classes = 12;
  data.dimension = 8;
  data.noise = 1.5;
  const FeatureSet set = make_synthetic(data);
  ManyWayOptions options = quick_options({"ncm"});
  options.shots = {1};
  options.split_count = 4;
  const ManyWayReport report = evaluate_many_way(set, options);
  const ManyWayResult& result = report.results.front();
  std::vector<double> accuracies;
  for (const ManyWayRun& run : result.runs) accuracies.push_back(run.accuracy);
  EXPECT_NE(accuracies[0], accuracies[1]);
  double mean = 0.0;
  for (const double value : accuracies) mean += value / 4.0;
  double squares = 0.0;
  for (const double value : accuracies) squares += (value - mean) * (value - mean);
  EXPECT_NEAR(result.accuracy_mean, mean, 1e-9);
  EXPECT_NEAR(result.accuracy_std, std::sqrt(squares / 3.0), 1e-9);
  // A split does not depend on the splits before it.
  options.seed = 2;
  options.split_count = 1;
  const ManyWayReport alone = evaluate_many_way(set, options);
  EXPECT_EQ(alone.results.front().accuracy_mean, accuracies[2]);
  EXPECT_EQ(alone.results.front().accuracy_std, 0.0);
}

TEST(ManyWay, IsTrainMarksTheTestExamples) {
  SyntheticOptions data;
  data.classes = 5;
  data.train_rows = 4;
  data.test_rows = 3;
  data.dimension = 8;
  const FeatureSet set = make_synthetic(data);
  ManyWayOptions options = quick_options({"ncm"});
  options.shots = {1, 0};
  const ManyWayReport report = evaluate_many_way(set, options);
  EXPECT_EQ(report.results[0].runs[0].support_examples, 5U);
  EXPECT_EQ(report.results[0].runs[0].query_examples, 15U);
  EXPECT_EQ(report.results[1].runs[0].support_examples, 20U);
  EXPECT_EQ(report.results[1].runs[0].query_examples, 15U);
}

TEST(ManyWay, ResultsDoNotDependOnThreads) {
  SyntheticOptions data;
  data.classes = 10;
  data.dimension = 16;
  const FeatureSet set = make_synthetic(data);
  ManyWayOptions options = quick_options({"ncm", "baseline", "ibm2"});
  options.shots = {2};
  options.split_count = 2;
  set_threads(options.recipe, 1);
  const ManyWayReport one = evaluate_many_way(set, options);
  set_threads(options.recipe, 3);
  const ManyWayReport three = evaluate_many_way(set, options);
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    for (std::size_t r = 0; r < one.results[i].runs.size(); ++r) {
      EXPECT_EQ(one.results[i].runs[r].accuracy, three.results[i].runs[r].accuracy);
      EXPECT_EQ(one.results[i].runs[r].epsilon, three.results[i].runs[r].epsilon);
    }
  }
  EXPECT_GT(one.results.back().runs[0].epsilon, 0.0);
  EXPECT_EQ(one.results.front().runs[0].epsilon, 0.0);
}

TEST(ManyWay, RejectsInvalidOptions) {
  const FeatureSet set = axes_set(3, 4, 0, {});
  ManyWayOptions options = quick_options({"nonsense"});
  EXPECT_NE(rejection(ErrorKind::kUsage, [&] { evaluate_many_way(set, options); }).find("ncm, simpleshot, knn,"),
            std::string::npos);
  options = quick_options({});
  EXPECT_NE(rejection(ErrorKind::kUsage, [&] { evaluate_many_way(set, options); }).find("method"), std::string::npos);
  options = quick_options({"ncm"});
  options.split_count = 0;
  EXPECT_NE(rejection(ErrorKind::kUsage, [&] { evaluate_many_way(set, options); }).find("split"), std::string::npos);
}

TEST(ManyWay, RejectsASetWithNoTestExamples) {
  ManyWayOptions options = quick_options({"ncm"});
  options.shots = {4};
  const FeatureSet set = axes_set(3, 4, 0, {});
  EXPECT_NE(rejection(ErrorKind::kInput, [&] { evaluate_many_way(set, options); }).find("expected test examples"),
            std::string::npos);
}

TEST(ManyWay, RejectsTestSetsThatDoNotFit) {
  const ManyWayOptions options = quick_options({"ncm"});
  const FeatureSet train = axes_set(3, 6, 0, {"ant", "bee", "cat"});
  const FeatureSet wide = axes_set(4, 2, 0, {});
  const FeatureSet other = axes_set(3, 2, 0, {"ant", "bee", "elk"});
  EXPECT_NE(rejection(ErrorKind::kInput, [&] { evaluate_many_way(train, wide, options); }).find("3 dimensions"),
            std::string::npos);
  EXPECT_NE(rejection(ErrorKind::kInput, [&] { evaluate_many_way(train, other, options); }).find("\"elk\""),
            std::string::npos);
  Matrix<float> features(1, 3);
  features(0, 0) = 1.0F;
  const FeatureSet unlabelled(parts_of(std::move(features)));
  EXPECT_NE(rejection(ErrorKind::kInput, [&] { evaluate_many_way(train, unlabelled, options); }).find("labels"),
            std::string::npos);
}

TEST(ManyWay, StopsWhenProgressAsksTo) {
  const FeatureSet set = axes_set(3, 6, 0, {});
  std::size_t calls = 0;
  const auto stop_at_the_third = [&calls](const Progress& progress) {
    EXPECT_EQ(progress.total, 18U);
    return ++calls < 3;
  };
  const std::string message = rejection(ErrorKind::kCancelled, [&] {
    evaluate_many_way(set, quick_options({"ncm", "baseline", "ibm2"}), stop_at_the_third);
  });
  EXPECT_NE(message, "");
  EXPECT_EQ(calls, 3U);
}

}  // namespace
}  // namespace annulus
