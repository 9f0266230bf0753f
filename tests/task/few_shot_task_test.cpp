// Splits: how many examples, which ones, and what is left to test on.
#include "annulus/task/few_shot_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kClasses = 4;
constexpr std::size_t kRowsAClass = 10;

// Row i belongs to class i % kClasses and holds (i + 1, 1).
FeatureSet striped_set(std::vector<std::uint8_t> is_train = {}) {
  Matrix<float> features(kClasses * kRowsAClass, 2);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < features.rows(); ++i) {
    features(i, 0) = static_cast<float>(i + 1);
    features(i, 1) = 1.0F;
    labels.push_back(static_cast<std::int32_t>(i % kClasses));
  }
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = std::move(labels);
  parts.class_names = {"ant", "bee", "cat", "dog"};
  parts.is_train = std::move(is_train);
  parts.source = "striped.npz";
  return FeatureSet(std::move(parts));
}

std::vector<std::uint8_t> first_rows_train(std::size_t count) {
  std::vector<std::uint8_t> is_train(kClasses * kRowsAClass, 0);
  std::fill_n(is_train.begin(), count, std::uint8_t{1});
  return is_train;
}

std::set<std::uint32_t> as_set(const std::vector<std::uint32_t>& rows) { return {rows.begin(), rows.end()}; }

std::string rejection(const FeatureSet& set, const ShotOptions& options) {
  try {
    draw_split(set, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return {};
}

TEST(DrawSplit, TakesTheShotsOfEveryClassGroupedByClass) {
  const FeatureSet set = striped_set();
  const Split split = draw_split(set, {3, 11});
  EXPECT_EQ(split.seed, 11U);
  ASSERT_EQ(split.support.size(), 3 * kClasses);
  const auto labels = set.labels_of(split.support);
  for (std::size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(labels[i], static_cast<std::int32_t>(i / 3));
  for (std::size_t c = 0; c < kClasses; ++c) {
    EXPECT_LT(split.support[3 * c], split.support[3 * c + 1]);
    EXPECT_LT(split.support[3 * c + 1], split.support[3 * c + 2]);
  }
}

TEST(DrawSplit, QueriesAreAllOtherExamplesWithoutIsTrain) {
  const FeatureSet set = striped_set();
  const Split split = draw_split(set, {2, 5});
  auto all = as_set(split.support);
  for (const std::uint32_t row : split.query) EXPECT_TRUE(all.insert(row).second) << "row " << row << " is drawn twice";
  EXPECT_EQ(all.size(), set.rows());
}

TEST(DrawSplit, SamplesTrainingExamplesAndTestsOnAllOthers) {
  const FeatureSet set = striped_set(first_rows_train(20));
  const Split split = draw_split(set, {2, 5});
  for (const std::uint32_t row : split.support) EXPECT_LT(row, 20U);
  ASSERT_EQ(split.query.size(), 20U);
  for (const std::uint32_t row : split.query) EXPECT_GE(row, 20U);
}

TEST(DrawSplit, MoreShotsContainFewer) {
  const FeatureSet set = striped_set();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::set<std::uint32_t> smaller;
    for (std::size_t shots = 1; shots <= kRowsAClass; ++shots) {
      const auto larger = as_set(draw_split(set, {shots, seed}).support);
      EXPECT_TRUE(std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end()));
      smaller = larger;
    }
  }
}

TEST(DrawSplit, IsAPureFunctionOfTheSeed) {
  const FeatureSet set = striped_set();
  EXPECT_EQ(draw_split(set, {3, 1}).support, draw_split(set, {3, 1}).support);
  EXPECT_NE(draw_split(set, {3, 1}).support, draw_split(set, {3, 2}).support);
}

TEST(DrawSplit, EveryExampleOfAClassIsSampled) {
  const FeatureSet set = striped_set();
  std::set<std::uint32_t> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::uint32_t row : draw_split(set, {1, seed}).support) seen.insert(row);
  }
  EXPECT_EQ(seen.size(), set.rows());
}

TEST(DrawSplit, ZeroShotsTakeEveryTrainingExample) {
  const FeatureSet set = striped_set(first_rows_train(22));  // uneven: two classes have 6 rows, two have 5
  const Split split = draw_split(set, {0, 0});
  EXPECT_EQ(split.support.size(), 22U);
  EXPECT_EQ(as_set(split.support).size(), 22U);
  EXPECT_EQ(split.query.size(), 18U);
}

TEST(DrawSplit, NamesTheClassWithTooFewExamples) {
  const std::string message = rejection(striped_set(first_rows_train(22)), {6, 0});
  EXPECT_NE(message.find("\"cat\" has 5 training examples, but 6 are needed"), std::string::npos) << message;
  EXPECT_NE(
      rejection(striped_set(first_rows_train(3)), {0, 0}).find("\"dog\" has 0 training examples, but 1 is needed"),
      std::string::npos);
}

TEST(DrawSplit, RejectsSetsThatCannotBeLearntFrom) {
  Matrix<float> features(2, 1);
  features(0, 0) = features(1, 0) = 1.0F;
  EXPECT_NE(rejection(FeatureSet(parts_of(features.clone())), {1, 0}).find("found only features"), std::string::npos);
  FeatureSetParts parts = parts_of(features.clone());
  parts.labels = {0, 0};
  EXPECT_NE(rejection(FeatureSet(std::move(parts)), {1, 0}).find("at least two classes, found 1"), std::string::npos);
}

TEST(DrawSupport, SamplesFromAllExamplesAndLeavesNoQuery) {
  const FeatureSet set = striped_set(first_rows_train(4));
  const Split split = draw_support(set, {kRowsAClass, 0});
  EXPECT_EQ(as_set(split.support).size(), set.rows());
  EXPECT_TRUE(split.query.empty());
}

// Row i of the striped set belongs to group i / kClasses: every group has one row of each class.
std::vector<std::int32_t> striped_groups() {
  std::vector<std::int32_t> groups;
  for (std::size_t i = 0; i < kClasses * kRowsAClass; ++i) groups.push_back(static_cast<std::int32_t>(i / kClasses));
  return groups;
}

TEST(DrawGroups, TrainsOnWholeGroupsAndTestsOnTheOthers) {
  const FeatureSet set = striped_set();
  const auto groups = striped_groups();
  std::set<std::set<std::uint32_t>> draws;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Split split = draw_groups(set, groups, {3, seed});
    std::set<std::int32_t> learnt;
    for (const std::uint32_t row : split.support) learnt.insert(groups[row]);
    EXPECT_EQ(learnt.size(), 3U);
    EXPECT_EQ(split.support.size(), 3 * kClasses);
    EXPECT_EQ(split.query.size(), set.rows() - split.support.size());
    for (const std::uint32_t row : split.query) EXPECT_EQ(learnt.count(groups[row]), 0U);
    draws.insert(as_set(split.support));
  }
  EXPECT_GT(draws.size(), 1U) << "another seed draws other groups";
}

TEST(DrawGroups, RejectsAClassWithoutExamplesAndAnImpossibleNumber) {
  const FeatureSet set = striped_set();
  auto groups = striped_groups();
  EXPECT_THROW(draw_groups(set, groups, {kRowsAClass, 0}), Error);
  EXPECT_THROW(draw_groups(set, groups, {0, 0}), Error);
  for (std::size_t i = 2; i < groups.size(); i += kClasses) groups[i] = 0;  // cats are in group 0 alone
  std::size_t rejected = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    try {
      draw_groups(set, groups, {1, seed});
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("\"cat\""), std::string::npos) << error.what();
      ++rejected;
    }
  }
  EXPECT_GT(rejected, 0U);
}

TEST(Gather, CopiesFeaturesAndLabels) {
  const FeatureSet set = striped_set();
  const std::vector<std::uint32_t> rows{7, 2};
  const LabelledExamples labelled = gather(set, rows);
  EXPECT_EQ(labelled.features(0, 0), 8.0F);
  EXPECT_EQ(labelled.features(1, 0), 3.0F);
  EXPECT_EQ(labelled.labels, (std::vector<std::int32_t>{3, 2}));
  EXPECT_EQ(labelled.classes, kClasses);
}

TEST(MapClasses, MatchesByName) {
  const std::vector<std::string> learnt{"dog", "cat", "elk", "ant", "bee"};
  EXPECT_EQ(map_classes(striped_set(), learnt), (std::vector<std::int32_t>{3, 4, 1, 0}));
}

TEST(MapClasses, NamesAClassThatWasNotLearnt) {
  const std::vector<std::string> learnt{"ant", "bee", "cat"};
  try {
    map_classes(striped_set(), learnt);
    FAIL() << "an unknown class was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("\"dog\" is unknown"), std::string::npos) << error.what();
  }
}

// Two examples of a class that follow each other in it are a group: ten examples are five groups.
FeatureSet grouped_set(std::vector<std::uint8_t> is_train = {}) {
  const FeatureSet set = striped_set();
  Matrix<float> features(set.rows(), set.dimension());
  set.copy_rows(0, features.view());
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels.assign(set.labels().begin(), set.labels().end());
  parts.class_names.assign(set.class_names().begin(), set.class_names().end());
  for (std::size_t i = 0; i < set.rows(); ++i) {
    parts.groups.push_back(static_cast<std::int32_t>(kClasses * (i / (2 * kClasses)) + i % kClasses));
  }
  parts.is_train = std::move(is_train);
  parts.source = "grouped.npz";
  return FeatureSet(std::move(parts));
}

TEST(DrawSplit, AShotIsAWholeGroup) {
  const FeatureSet set = grouped_set();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Split split = draw_split(set, {3, seed});
    ASSERT_EQ(split.support.size(), 2 * 3 * kClasses);
    EXPECT_EQ(split.query.size(), set.rows() - split.support.size());
    std::set<std::int32_t> trained;
    for (const std::uint32_t row : split.support) trained.insert(set.groups()[row]);
    EXPECT_EQ(trained.size(), 3 * kClasses) << "every group is whole";
    for (const std::uint32_t row : split.query) EXPECT_FALSE(trained.contains(set.groups()[row])) << "row " << row;
  }
  EXPECT_EQ(rejection(set, {6, 0}), "grouped.npz: class \"ant\" has 5 groups of training examples, but 6 are needed");
}

TEST(DrawSplit, NoGroupIsOnBothSidesWhateverIsTrainSays) {
  // The last training examples, rows 20 to 23, share their groups with test examples, rows 16 to 19.
  std::vector<std::uint8_t> is_train = first_rows_train(24);
  std::fill(is_train.begin() + 16, is_train.begin() + 20, std::uint8_t{0});
  const Split split = draw_split(grouped_set(is_train), {0, 0});
  EXPECT_EQ(split.support.size(), 20U);
  EXPECT_EQ(as_set(split.query).size(), 16U);
  EXPECT_EQ(*std::min_element(split.query.begin(), split.query.end()), 24U);
}

TEST(Gather, TakesGroupsAlong) {
  const FeatureSet set = grouped_set();
  const std::vector<std::uint32_t> rows{4, 9, 0};
  EXPECT_EQ(gather(set, rows).groups, (std::vector<std::int32_t>{0, 5, 0}));
  EXPECT_TRUE(gather(striped_set(), rows).groups.empty());
}

}  // namespace
}  // namespace annulus
