// Which rows and classes are held out, and what heads that never saw them are asked.
#include "annulus/learn/held_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace annulus {
namespace {

SupportRows rows_of(std::span<const std::size_t> counts) {
  SupportRows support;
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

TEST(HeldOut, EveryClassKeepsARowInEveryTraining) {
  for (std::size_t most = 2; most <= 20; ++most) {
    std::vector<std::size_t> counts;
    for (std::size_t n = 1; n <= most; ++n) counts.push_back(n);
    const SupportRows support = rows_of(counts);
    const HoldOutPlan plan = plan_hold_out(support, counts.size(), 3);
    for (std::size_t fold = 0; fold < plan.turns; ++fold) {
      std::vector<std::size_t> kept(counts.size(), 0);
      for (std::size_t i = 0; i < support.rows(); ++i) {
        if (plan.fold[i] != fold) ++kept[static_cast<std::size_t>(support.labels[i])];
      }
      EXPECT_GT(*std::min_element(kept.begin(), kept.end()), 0U) << most << " rows, fold " << fold;
    }
    EXPECT_EQ(plan.fold[0], plan.turns) << "a single row is never held out";
  }
}

TEST(HeldOut, ManyRowsNeedFewerTurns) {
  const std::vector<std::size_t> many(200, 16);
  const HoldOutPlan plan = plan_hold_out(rows_of(many), 200, 0);
  EXPECT_EQ(plan.folds, 3U);
  EXPECT_EQ(plan.turns, 1U);
  EXPECT_EQ(plan_class_turns(plan).size(), 2U) << "both halves";
  const std::vector<std::size_t> few(10, 5);
  const auto turns = plan_class_turns(plan_hold_out(rows_of(few), 10, 0));
  EXPECT_EQ(turns.size(), 7U) << "two halves and five fifths";
  EXPECT_EQ(turns.back().groups, 5U);
  const std::vector<std::size_t> two(2, 5);
  EXPECT_TRUE(plan_class_turns(plan_hold_out(rows_of(two), 2, 0)).empty()) << "no head of two classes is left";
}

// Evidence of every turn.
std::vector<EvidenceTurn> ask_turns(HoldOut& hold_out, const HoldOutPlan& plan, std::span<const ClassTurn> turns) {
  std::vector<EvidenceTurn> evidence;
  for (const ClassTurn& turn : turns) {
    const auto training = train_without_classes(hold_out, plan, turn);
    if (training) evidence.push_back(ask_about_strangers(hold_out, *training, 1.0));
  }
  return evidence;
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

FitResult note(LabelledRows&& rows, const Recipe& /*recipe*/, const ProgressCallback& /*progress*/) {
  given().push_back({rows.labels.size(), rows.classes, rows.weights});
  for (const std::int32_t label : rows.labels) EXPECT_LT(static_cast<std::size_t>(label), rows.classes);
  FitResult fit;
  fit.head = initial_head<float>(HeadKind::kLinear, rows.classes, rows.features.cols(), 0, 0);
  return fit;
}

TEST(HeldOut, HeadsThatAreAskedKnowNeitherTheFoldNorTheClasses) {
  const std::vector<std::size_t> counts(10, 6);
  const SupportRows support = rows_of(counts);
  const HoldOutPlan plan = plan_hold_out(support, 10, 1);
  std::vector<float> weights(support.rows(), 2.0F);
  weights[7] = 1.0F;
  Recipe recipe = recipe_named("default");
  set_threads(recipe, 1);
  given().clear();
  const ProgressCallback silent;
  HoldOut hold_out{support, weights, recipe, note, silent, 24};
  const HeldOutRows held = hold_out_rows(hold_out, plan);
  EXPECT_EQ(held.rows.size(), 60U);
  ASSERT_EQ(given().size(), 3U);
  for (const Given& call : given()) {
    EXPECT_EQ(call.rows, 40U);
    EXPECT_EQ(call.classes, 10U);
    EXPECT_EQ(call.weights.size(), 40U);
  }
  given().clear();
  const std::vector<ClassTurn> turns = plan_class_turns(plan);
  const auto evidence = ask_turns(hold_out, plan, turns);
  ASSERT_EQ(given().size(), turns.size());
  ASSERT_EQ(evidence.size(), turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::size_t strange = 60 / turns[i].groups;
    EXPECT_EQ(given()[i].classes, 10 - 10 / turns[i].groups);
    EXPECT_EQ(given()[i].rows, (60 - strange) * 2 / 3);
    EXPECT_EQ(evidence[i].known.size(), (60 - strange) / 3);
    EXPECT_EQ(evidence[i].strange.size(), strange);
  }
  EXPECT_EQ(hold_out.done, 3 + turns.size());
}

TEST(HeldOut, OfSingleRowsEveryClassIsAStrangerOnce) {
  const std::vector<std::size_t> counts(11, 1);
  const SupportRows support = rows_of(counts);
  const HoldOutPlan plan = plan_hold_out(support, 11, 1);
  Recipe recipe = recipe_named("default");
  set_threads(recipe, 1);
  given().clear();
  const ProgressCallback silent;
  HoldOut hold_out{support, {}, recipe, note, silent, 5};
  const std::vector<ClassTurn> turns = plan_stranger_turns(plan);
  ASSERT_EQ(turns.size(), 5U);
  const auto evidence = ask_turns(hold_out, plan, turns);
  ASSERT_EQ(evidence.size(), 5U);
  std::size_t strangers = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    EXPECT_TRUE(evidence[i].known.empty());
    EXPECT_EQ(given()[i].rows, 11 - evidence[i].strange.size());
    EXPECT_EQ(given()[i].classes, given()[i].rows);
    strangers += evidence[i].strange.size();
  }
  EXPECT_EQ(strangers, 11U);
  const auto turns_of = [](std::size_t classes) {
    return plan_stranger_turns(plan_hold_out(rows_of(std::vector<std::size_t>(classes, 1)), classes, 0)).size();
  };
  EXPECT_EQ(turns_of(2000), 3U) << "400, 800, 1200 strangers";
  EXPECT_EQ(turns_of(3), 3U) << "a class at a time";
  EXPECT_EQ(turns_of(2), 0U) << "no head of two classes is left";
}

}  // namespace
}  // namespace annulus
