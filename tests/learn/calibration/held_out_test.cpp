// Which examples and classes are held out, and the outputs of heads trained without them.
#include "annulus/learn/calibration/held_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace annulus {
namespace {

SupportSet rows_of(std::span<const std::size_t> counts) {
  SupportSet support;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    support.labels.insert(support.labels.end(), counts[c], static_cast<std::int32_t>(c));
  }
  support.features = Matrix<float>(support.labels.size(), 3);
  for (std::size_t i = 0; i < support.rows(); ++i) {
    support.features(i, 0) = std::cos(0.1F * static_cast<float>(i));
    support.features(i, 1) = std::sin(0.1F * static_cast<float>(i));
  }
  return support;
}

TEST(HeldOut, EveryClassKeepsAnExampleInEveryTraining) {
  for (std::size_t most = 2; most <= 20; ++most) {
    std::vector<std::size_t> counts;
    for (std::size_t n = 1; n <= most; ++n) counts.push_back(n);
    const SupportSet support = rows_of(counts);
    const HoldOutPlan plan = plan_hold_out(support, counts.size(), 3);
    for (std::size_t fold = 0; fold < plan.held_out_folds; ++fold) {
      std::vector<std::size_t> kept(counts.size(), 0);
      for (std::size_t i = 0; i < support.rows(); ++i) {
        if (plan.fold[i] != fold) ++kept[static_cast<std::size_t>(support.labels[i])];
      }
      EXPECT_GT(*std::min_element(kept.begin(), kept.end()), 0U) << most << " rows, fold " << fold;
    }
    EXPECT_EQ(plan.fold[0], plan.held_out_folds) << "a single row is never held out";
  }
}

TEST(HeldOut, ManyExamplesNeedFewerFolds) {
  const std::vector<std::size_t> many(200, 16);
  const HoldOutPlan plan = plan_hold_out(rows_of(many), 200, 0);
  EXPECT_EQ(plan.folds, 3U);
  EXPECT_EQ(plan.held_out_folds, 1U);
  EXPECT_EQ(plan_class_folds(plan).size(), 2U) << "both halves";
  const std::vector<std::size_t> few(10, 5);
  const auto folds = plan_class_folds(plan_hold_out(rows_of(few), 10, 0));
  EXPECT_EQ(folds.size(), 7U) << "two halves and five fifths";
  EXPECT_EQ(folds.back().groups, 5U);
  const std::vector<std::size_t> two(2, 5);
  EXPECT_TRUE(plan_class_folds(plan_hold_out(rows_of(two), 2, 0)).empty()) << "no head of two classes is left";
}

// OpenSetFeatures of every fold.
std::vector<OpenSetFold> ask_folds(HoldOut& hold_out, const HoldOutPlan& plan, std::span<const ClassFold> folds) {
  std::vector<OpenSetFold> open_set_features;
  for (const ClassFold& fold : folds) {
    const auto training = train_without_classes(hold_out, plan, fold);
    if (training) open_set_features.push_back(features_of_unknown(hold_out, *training, 1.0));
  }
  return open_set_features;
}

// A fit that learns nothing and writes down what it was given.
struct Given {
  std::size_t rows = 0;
  std::size_t classes = 0;
  std::vector<float> weights;
};
std::vector<Given>& given() {
  static std::vector<Given> calls;
  return calls;
}

FitResult note(LabelledExamples&& rows, const Recipe& /*recipe*/, const ProgressCallback& /*progress*/) {
  given().push_back({rows.labels.size(), rows.classes, rows.weights});
  for (const std::int32_t label : rows.labels) EXPECT_LT(static_cast<std::size_t>(label), rows.classes);
  FitResult fit;
  fit.head = initial_head<float>(HeadKind::kLinear, rows.classes, rows.features.cols(), 0, 0);
  return fit;
}

TEST(HeldOut, HeadsAreTrainedWithoutTheFoldAndWithoutTheClasses) {
  const std::vector<std::size_t> counts(10, 6);
  const SupportSet support = rows_of(counts);
  const HoldOutPlan plan = plan_hold_out(support, 10, 1);
  std::vector<float> weights(support.rows(), 2.0F);
  weights[7] = 1.0F;
  Recipe recipe = recipe_named("default");
  set_threads(recipe, 1);
  given().clear();
  const ProgressCallback silent;
  HoldOut hold_out{support, weights, recipe, silent, 24, 0, note};
  const HeldOutExamples held = hold_out_examples(hold_out, plan);
  EXPECT_EQ(held.rows.size(), 60U);
  ASSERT_EQ(given().size(), 3U);
  for (const Given& call : given()) {
    EXPECT_EQ(call.rows, 40U);
    EXPECT_EQ(call.classes, 10U);
    EXPECT_EQ(call.weights.size(), 40U);
  }
  given().clear();
  const std::vector<ClassFold> folds = plan_class_folds(plan);
  const auto open_set_features = ask_folds(hold_out, plan, folds);
  ASSERT_EQ(given().size(), folds.size());
  ASSERT_EQ(open_set_features.size(), folds.size());
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const std::size_t unknown = 60 / folds[i].groups;
    EXPECT_EQ(given()[i].classes, 10 - 10 / folds[i].groups);
    EXPECT_EQ(given()[i].rows, (60 - unknown) * 2 / 3);
    EXPECT_EQ(open_set_features[i].known.size(), (60 - unknown) / 3);
    EXPECT_EQ(open_set_features[i].unknown.size(), unknown);
  }
  EXPECT_EQ(hold_out.done, 3 + folds.size());
}

TEST(HeldOut, WithOneShotEveryClassIsUnknownOnce) {
  const std::vector<std::size_t> counts(11, 1);
  const SupportSet support = rows_of(counts);
  const HoldOutPlan plan = plan_hold_out(support, 11, 1);
  Recipe recipe = recipe_named("default");
  set_threads(recipe, 1);
  given().clear();
  const ProgressCallback silent;
  HoldOut hold_out{support, {}, recipe, silent, 5, 0, note};
  const std::vector<ClassFold> folds = plan_unknown_folds(plan);
  ASSERT_EQ(folds.size(), 5U);
  const auto open_set_features = ask_folds(hold_out, plan, folds);
  ASSERT_EQ(open_set_features.size(), 5U);
  std::size_t unknown_inputs = 0;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    EXPECT_TRUE(open_set_features[i].known.empty());
    EXPECT_EQ(given()[i].rows, 11 - open_set_features[i].unknown.size());
    EXPECT_EQ(given()[i].classes, given()[i].rows);
    unknown_inputs += open_set_features[i].unknown.size();
  }
  EXPECT_EQ(unknown_inputs, 11U);
  const auto folds_of = [](std::size_t classes) {
    return plan_unknown_folds(plan_hold_out(rows_of(std::vector<std::size_t>(classes, 1)), classes, 0)).size();
  };
  EXPECT_EQ(folds_of(2000), 3U) << "400, 800, 1200 unknown inputs";
  EXPECT_EQ(folds_of(3), 3U) << "a class at a time";
  EXPECT_EQ(folds_of(2), 0U) << "no head of two classes is left";
}

TEST(HeldOut, AGroupIsHeldOutWhole) {
  const std::vector<std::size_t> counts(10, 12);
  SupportSet support = rows_of(counts);
  for (std::size_t i = 0; i < support.rows(); ++i) support.groups.push_back(static_cast<std::int32_t>(i / 3));
  const HoldOutPlan plan = plan_hold_out(support, counts.size(), 1);
  EXPECT_EQ(plan.folds, 3U);
  EXPECT_EQ(plan.shots, 4.0) << "four groups a class";
  for (std::size_t i = 0; i < support.rows(); ++i) EXPECT_EQ(plan.fold[i], plan.fold[i - i % 3]) << "row " << i;
  std::vector<std::size_t> held(plan.folds, 0);
  for (const std::size_t fold : plan.fold) ++held[fold];
  EXPECT_EQ(held[0] + held[1] + held[2], support.rows());
  EXPECT_GT(*std::min_element(held.begin(), held.end()), support.rows() / 6);
}

TEST(HeldOut, AClassOfOneGroupIsAlwaysTrainedOn) {
  const std::vector<std::size_t> counts{4, 4, 4};
  SupportSet support = rows_of(counts);
  support.groups = {0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6};
  const HoldOutPlan plan = plan_hold_out(support, counts.size(), 1);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(plan.fold[i], plan.held_out_folds);
  support.groups.assign(support.rows(), 0);
  EXPECT_LT(plan_hold_out(support, counts.size(), 1).folds, 2U) << "there is one group in all";
}

// Sites at which several species were seen: no fold may take the last examples of a species.
TEST(HeldOut, GroupsOfSeveralClassesLeaveEveryClassSomething) {
  const std::vector<std::size_t> counts{2, 9, 9};
  SupportSet support = rows_of(counts);
  support.groups = {0, 1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 3, 3, 3, 4, 4, 4, 4};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const HoldOutPlan plan = plan_hold_out(support, counts.size(), seed);
    for (std::size_t fold = 0; fold < plan.held_out_folds; ++fold) {
      std::vector<std::size_t> kept(counts.size(), 0);
      for (std::size_t i = 0; i < support.rows(); ++i) {
        if (plan.fold[i] != fold) ++kept[static_cast<std::size_t>(support.labels[i])];
      }
      EXPECT_GT(*std::min_element(kept.begin(), kept.end()), 0U) << "seed " << seed << ", fold " << fold;
    }
  }
}

}  // namespace
}  // namespace annulus
