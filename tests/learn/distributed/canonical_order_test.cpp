// The order in which training examples are learned from, in one process and in several.
#include "annulus/learn/distributed/canonical_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "annulus/task/synthetic.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

constexpr SyntheticOptions kFewRows{.classes = 11, .train_rows = 4, .test_rows = 20, .dimension = 13, .noise = 0.8};

// Four examples of two classes, one number each.
TrainingData four_examples() {
  TrainingData data;
  data.rows.features = Matrix<float>(4, 1);
  const std::vector<float> numbers{3.0F, 1.0F, 2.0F, 0.5F};
  std::copy(numbers.begin(), numbers.end(), data.rows.features.data());
  data.rows.labels = {1, 0, 0, 1};
  data.rows.classes = 2;
  data.paths = {"a", "b", "c", "d"};
  return data;
}

TEST(CanonicalOrder, SortsByClassThenByFeatures) {
  TrainingData data = four_examples();
  EXPECT_EQ(to_canonical_order(data), (std::vector<std::size_t>{1, 2, 3, 0}));
  EXPECT_EQ(data.rows.labels, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(data.paths, (std::vector<std::string>{"b", "c", "d", "a"}));
  const std::vector<float> expected{1.0F, 2.0F, 0.5F, 3.0F};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), data.rows.features.data()));
}

TEST(CanonicalOrder, LeavesExamplesOfWeightZeroOutAndDropsWeightsThatAreAllTheSame) {
  TrainingData data = four_examples();
  data.rows.weights = {2.0F, 0.0F, 2.0F, 2.0F};
  EXPECT_EQ(to_canonical_order(data), (std::vector<std::size_t>{2, 3, 0}));
  EXPECT_EQ(data.rows.features.rows(), 3U);
  EXPECT_TRUE(data.rows.weights.empty());
  data = four_examples();
  data.rows.weights = {1.0F, 2.0F, 3.0F, 4.0F};
  to_canonical_order(data);
  EXPECT_EQ(data.rows.weights, (std::vector<float>{2.0F, 3.0F, 4.0F, 1.0F}));
}

TEST(CanonicalOrder, RejectsWeightsThatMakeNoSense) {
  TrainingData data = four_examples();
  data.rows.weights = {1.0F, -1.0F, 1.0F, 1.0F};
  expect_error(ErrorKind::kInput, "found -1 at training example 1", [&] { to_canonical_order(data); });
  data.rows.weights = {0.0F, 0.0F, 0.0F, 0.0F};
  expect_error(ErrorKind::kInput, "a weight above 0", [&] { to_canonical_order(data); });
  data.rows.weights = {1.0F};
  expect_error(ErrorKind::kInput, "a weight for each of the 4", [&] { to_canonical_order(data); });
}

TEST(CanonicalOrder, OfExamplesWithTheSameFeaturesIsThatOfWeightsThenOfPaths) {
  TrainingData data = four_examples();
  std::fill_n(data.rows.features.data(), 4, 1.0F);
  data.rows.labels = {0, 0, 0, 0};
  data.rows.weights = {2.0F, 1.0F, 2.0F, 1.0F};
  data.paths = {"d", "c", "b", "a"};
  EXPECT_EQ(to_canonical_order(data), (std::vector<std::size_t>{3, 1, 2, 0}));
}

TEST(CanonicalOrder, ByContentRenumbersClassesByTheirFirstExamples) {
  TrainingData data = four_examples();
  data.class_names = {"x", "y"};
  data.rows.groups = {1, 2, 3, 4};
  to_content_order(data);
  EXPECT_EQ(data.rows.groups, (std::vector<std::int32_t>{4, 1, 2, 3}));
  EXPECT_EQ(data.class_order, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(data.rows.labels, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(data.paths, (std::vector<std::string>{"d", "a", "b", "c"}));
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"x", "y"}));
  // What does not count has no say: without its smallest example the class is the later one.
  data = four_examples();
  data.class_names = {"x", "y"};
  data.rows.weights = {1.0F, 1.0F, 1.0F, 0.0F};
  to_content_order(data);
  EXPECT_EQ(data.class_order, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(data.paths, (std::vector<std::string>{"b", "c", "a"}));
}

// A set in which some classes have the same first example.
FeatureSet with_equal_examples() {
  const FeatureSet set = make_synthetic(kFewRows);
  Matrix<float> features(set.rows(), set.dimension());
  set.copy_rows(0, features.view());
  std::vector<bool> seen(set.classes(), false);
  for (std::size_t i = 0; i < set.rows(); ++i) {
    const auto label = static_cast<std::size_t>(set.labels()[i]);
    if (label < 4 && !seen[label]) std::fill(features.row(i).begin(), features.row(i).end(), -100.0F);
    seen[label] = true;
  }
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels.assign(set.labels().begin(), set.labels().end());
  parts.class_names.assign(set.class_names().begin(), set.class_names().end());
  parts.is_train.assign(set.is_train().begin(), set.is_train().end());
  return FeatureSet(std::move(parts));
}

FeatureSet with_groups() {
  const FeatureSet set = make_synthetic(kFewRows);
  Matrix<float> features(set.rows(), set.dimension());
  set.copy_rows(0, features.view());
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels.assign(set.labels().begin(), set.labels().end());
  for (std::size_t i = 0; i < set.rows(); ++i) parts.groups.push_back(static_cast<std::int32_t>(i));
  return FeatureSet(std::move(parts));
}

// Each process has its partition of the order in which one process has all examples, whatever the order of the set.
void expect_partitions(const FeatureSet& set) {
  std::vector<std::uint32_t> rows = draw_split(set, {4, 1}).support;
  std::reverse(rows.begin(), rows.end());
  TrainingData alone = training_data(set, rows);
  to_content_order(alone);
  for (const std::size_t members : {1U, 2U, 3U, 5U, 50U}) {
    run_processes(members, [&](Communicator& communicator) {
      const TrainingData data = training_data(set, rows, &communicator);
      EXPECT_EQ(data.class_order, alone.class_order);
      EXPECT_EQ(data.rows.labels, alone.rows.labels);
      EXPECT_EQ(data.paths, alone.paths);
      EXPECT_EQ(data.rows.groups, alone.rows.groups);
      const Slice own = data.rows.partition.own(rows.size());
      ASSERT_EQ(data.rows.features.rows(), own.count);
      for (std::size_t i = 0; i < own.count; ++i) {
        EXPECT_TRUE(std::ranges::equal(data.rows.features.row(i), alone.rows.features.row(own.first + i)));
      }
    });
  }
}

TEST(CanonicalOrder, IsPartitionedAsOneProcessHasIt) {
  expect_partitions(make_synthetic(kFewRows));
  expect_partitions(with_groups());
  expect_partitions(with_equal_examples());
}

}  // namespace
}  // namespace annulus
