// What to label next: every class first, then what is unsure, and what may be new.
#include "annulus/eval/pool/label_next.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "annulus/base/error.h"
#include "tests/fixtures/generated_pool.h"

namespace annulus {
namespace {

LabelNextOptions count_of(std::size_t count, int threads = 0) { return {count, 0.25, threads}; }

std::vector<std::uint32_t> rows_of(const std::vector<LabelChoice>& choices) {
  std::vector<std::uint32_t> rows;
  for (const LabelChoice& choice : choices) rows.push_back(choice.row);
  return rows;
}

TEST(LabelNext, FromNothingOneOfEachClass) {
  const FeatureSet set = generated_pool(10, 25);
  const auto choices = label_next(features_of(set), {}, {}, count_of(10));
  ASSERT_EQ(choices.size(), 10U);
  std::set<std::int32_t> classes;
  std::size_t stands_for = 0;
  for (const LabelChoice& choice : choices) {
    classes.insert(set.labels()[choice.row]);
    EXPECT_EQ(choice.reason, LabelReason::kTypical);
    EXPECT_FALSE(choice.guess.has_value());
    stands_for += choice.stands_for;
  }
  EXPECT_EQ(classes.size(), 10U);
  EXPECT_EQ(stands_for, set.rows());
}

TEST(LabelNext, WhatIsLabelledIsNotChosenAgain) {
  const FeatureSet set = generated_pool(6, 20);
  const Matrix<float> rows = features_of(set);
  // All examples of the first three classes are labelled, and lie in the pool too.
  PoolKnowledge knowledge;
  std::vector<std::uint32_t> labelled;
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (set.labels()[i] < 3) labelled.push_back(i);
  }
  knowledge.features = Matrix<float>(labelled.size(), rows.cols());
  set.copy_rows(labelled, knowledge.features.view());
  knowledge.labels = set.labels_of(labelled);
  std::set<std::int32_t> classes;
  for (const LabelChoice& choice : label_next(rows.clone(), {}, knowledge, count_of(3))) {
    classes.insert(set.labels()[choice.row]);
    ASSERT_TRUE(choice.guess.has_value());
    EXPECT_LT(*choice.guess, 3);
  }
  EXPECT_EQ(classes, (std::set<std::int32_t>{3, 4, 5}));
}

TEST(LabelNext, WeightsByTheUncertaintyOfABelief) {
  const FeatureSet set = generated_pool(4, 20);
  PoolKnowledge knowledge;
  PoolBelief belief;
  belief.guess.assign(set.rows(), 0);
  belief.uncertainty.assign(set.rows(), 0.01F);
  for (std::size_t i = 0; i < set.rows(); ++i) {
    if (set.labels()[i] == 2) belief.uncertainty[i] = 0.9F;
  }
  knowledge.belief = belief;
  const auto choices = label_next(features_of(set), {}, knowledge, count_of(2));
  EXPECT_EQ(set.labels()[choices.front().row], 2);
  EXPECT_EQ(choices.front().reason, LabelReason::kUncertain);
}

TEST(LabelNext, AShareGoesToWhatMayBeNew) {
  const FeatureSet set = generated_pool(5, 20);
  PoolKnowledge knowledge;
  PoolBelief belief;
  belief.guess.assign(set.rows(), 1);
  belief.uncertainty.assign(set.rows(), 0.8F);
  belief.unknown.assign(set.rows(), 0);
  belief.false_reject = 0.05;
  for (std::size_t i = 0; i < set.rows(); ++i) {
    if (set.labels()[i] != 4) continue;
    belief.unknown[i] = 1;
    belief.uncertainty[i] = 0.0F;
  }
  knowledge.belief = belief;
  const auto is_new = [](const LabelChoice& choice) { return choice.reason == LabelReason::kNewClass; };
  const auto choices = label_next(features_of(set), {}, knowledge, {8, 0.5, 0});
  const auto count = std::count_if(choices.begin(), choices.end(), is_new);
  EXPECT_GE(count, 4);
  EXPECT_LT(count, 8);
  // As many rejections as are expected of known inputs prove nothing.
  knowledge.belief->false_reject = 0.5;
  knowledge.belief->unknown.assign(set.rows(), 0);
  knowledge.belief->unknown[3] = 1;
  const auto fewer = label_next(features_of(set), {}, knowledge, {8, 0.5, 0});
  EXPECT_LE(std::count_if(fewer.begin(), fewer.end(), is_new), 1);
}

TEST(LabelNext, NeitherThreadsNorTheOrderOfRowsMatter) {
  const FeatureSet set = generated_pool(7, 20, 1.0);
  PoolKnowledge knowledge;
  knowledge.features = Matrix<float>(14, set.dimension());
  set.copy_rows(0, knowledge.features.view());
  knowledge.labels = {set.labels().begin(), set.labels().begin() + 14};
  const auto one = rows_of(label_next(features_of(set), {}, knowledge, count_of(12, 1)));
  EXPECT_EQ(one, rows_of(label_next(features_of(set), {}, knowledge, count_of(12, 3))));
  knowledge.features = reversed(knowledge.features);
  std::reverse(knowledge.labels.begin(), knowledge.labels.end());
  auto backwards = rows_of(label_next(reversed(features_of(set)), {}, knowledge, count_of(12, 2)));
  for (std::uint32_t& row : backwards) row = row_number(set.rows() - 1) - row;
  EXPECT_EQ(one, backwards);
}

TEST(LabelNext, ChoosesAllOfASmallPoolAndNamesWhatIsWrong) {
  const FeatureSet set = generated_pool(2, 3);
  EXPECT_EQ(label_next(features_of(set), {}, {}, count_of(50)).size(), set.rows());
  EXPECT_THROW(label_next(Matrix<float>(), {}, {}, count_of(5)), Error);
  EXPECT_THROW(label_next(features_of(set), {}, {}, {5, 1.5, 0}), Error);
  PoolKnowledge other;
  other.features = Matrix<float>(1, 3);
  other.labels = {0};
  EXPECT_THROW(label_next(features_of(set), {}, other, count_of(5)), Error);
}

}  // namespace
}  // namespace annulus
