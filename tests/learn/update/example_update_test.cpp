// Following changes of the rows: what the model knows afterwards, beside a fit of the same rows.
#include "annulus/learn/update/example_update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "annulus/base/error.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/task/synthetic.h"

namespace annulus {
namespace {

constexpr std::size_t kClasses = 8;
constexpr std::size_t kShots = 6;

const FeatureSet& synthetic() {
  static const FeatureSet set =
      make_synthetic({.classes = kClasses, .train_rows = kShots, .test_rows = 20, .dimension = 24, .noise = 0.5});
  return set;
}

std::string name_of(std::size_t c) { return fmt::format("class {}", c); }

// What a project of these rows holds; changed by the tests.
struct Row {
  std::uint32_t row = 0;
  std::string class_name;
};

std::vector<Row> rows_of(std::size_t classes, bool train) {
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < synthetic().rows(); ++i) {
    const auto label = static_cast<std::size_t>(synthetic().labels()[i]);
    if (label < classes && (synthetic().is_train()[i] != 0) == train) rows.push_back({i, name_of(label)});
  }
  return rows;
}

TrainingData data_of(const std::vector<Row>& rows) {
  TrainingData data;
  std::vector<std::uint32_t> chosen;
  for (const Row& row : rows) {
    chosen.push_back(row.row);
    data.paths.push_back(fmt::format("photos/{}/{}.png", row.class_name, row.row));
    if (std::find(data.class_names.begin(), data.class_names.end(), row.class_name) == data.class_names.end()) {
      data.class_names.push_back(row.class_name);
    }
  }
  std::sort(data.class_names.begin(), data.class_names.end());
  data.rows = gather(synthetic(), chosen);
  data.rows.classes = data.class_names.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = std::find(data.class_names.begin(), data.class_names.end(), rows[i].class_name);
    data.rows.labels[i] = static_cast<std::int32_t>(found - data.class_names.begin());
  }
  data.provenance["source"] = "a test";
  return data;
}

Model fitted(const std::vector<Row>& rows) {
  Recipe recipe = recipe_named("default");
  recipe.epsilon = 1.0;
  set_virtual_count(recipe, 8);
  set_epochs(recipe, 100);
  return fit_model(data_of(rows), recipe, {}).model;
}

double accuracy(const Model& model, const std::vector<Row>& rows) {
  const TrainingData data = data_of(rows);
  const auto predicted = predict_classes(model.head, data.rows.features.view(), 1);
  double right = 0.0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (model.class_names[static_cast<std::size_t>(predicted[i])] == rows[i].class_name) right += 1.0;
  }
  return 100.0 * right / static_cast<double>(rows.size());
}

std::vector<float> numbers_of(const Head<float>& head) {
  std::vector<float> numbers(head.direction.data(), head.direction.data() + head.classes() * head.dimension());
  numbers.insert(numbers.end(), head.bias.begin(), head.bias.end());
  return numbers;
}

TEST(ExampleUpdate, IsAsAccurateAsAFitOfTheSameExamples) {
  std::vector<Row> rows = rows_of(kClasses - 1, true);
  const Model before = fitted(rows);
  // A class comes, another goes, two rows of a third turn out to be of a fourth, and one row is removed.
  for (const Row& row : rows_of(kClasses, true)) {
    if (row.class_name == name_of(kClasses - 1)) rows.push_back(row);
  }
  std::erase_if(rows, [](const Row& row) { return row.class_name == name_of(0); });
  rows.erase(rows.begin());
  std::vector<Row> test = rows_of(kClasses, false);
  std::erase_if(test, [](const Row& row) { return row.class_name == name_of(0); });

  const auto updated = update_examples(before, data_of(rows));
  ASSERT_TRUE(updated.has_value());
  const Model whole = fitted(rows);
  EXPECT_EQ(updated->class_names.size(), kClasses - 1);
  EXPECT_EQ(updated->class_names.front(), name_of(1));
  EXPECT_EQ(updated->class_names.back(), name_of(kClasses - 1));
  EXPECT_EQ(updated->head.classes(), kClasses - 1);
  EXPECT_EQ(updated->support.rows(), rows.size());
  EXPECT_NEAR(accuracy(*updated, test), accuracy(whole, test), 6.0);
  EXPECT_GT(accuracy(*updated, test), 70.0);
  EXPECT_EQ(updated->temperature, before.temperature);
  EXPECT_EQ(updated->epsilon, before.epsilon);
  EXPECT_EQ(updated->training.examples, rows.size());
  EXPECT_EQ(updated->training.updates.classes_added, 1U);
  EXPECT_EQ(updated->training.updates.classes_removed, 1U);
  EXPECT_EQ(updated->training.updates.examples_removed, 1U);
}

TEST(ExampleUpdate, CorrectedLabelsAreLearnt) {
  // All rows of a class but one stand under another class; then they are mended.
  std::vector<Row> wrong = rows_of(kClasses, true);
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    if (wrong[i].class_name != name_of(3)) continue;
    if (!moved.empty() || i + 1 == wrong.size()) wrong[i].class_name = name_of(5);
    moved.push_back(i);
  }
  ASSERT_EQ(moved.size(), kShots);
  const Model before = fitted(wrong);
  const std::vector<Row> right = rows_of(kClasses, true);
  std::vector<Row> test = rows_of(kClasses, false);
  std::erase_if(test, [](const Row& row) { return row.class_name != name_of(3); });
  const auto updated = update_examples(before, data_of(right));
  ASSERT_TRUE(updated.has_value());
  EXPECT_LT(accuracy(before, test), 60.0);
  EXPECT_GT(accuracy(*updated, test), accuracy(before, test) + 20.0);
  EXPECT_EQ(updated->training.updates.examples_added, 5U);
  EXPECT_EQ(updated->training.updates.examples_removed, 5U);
}

TEST(ExampleUpdate, ARenamedClassKeepsItsWeights) {
  std::vector<Row> rows = rows_of(kClasses, true);
  const Model before = fitted(rows);
  for (Row& row : rows) {
    if (row.class_name == name_of(2)) row.class_name = "another name";
  }
  ExampleUpdateOptions options;
  options.renamed[name_of(2)] = "another name";
  options.most = 0;  // nothing came or went
  const auto updated = update_examples(before, data_of(rows), options);
  ASSERT_TRUE(updated.has_value());
  EXPECT_EQ(updated->class_names[2], "another name");
  EXPECT_EQ(numbers_of(*updated->trained), numbers_of(*before.trained));
  std::vector<Row> test = rows_of(kClasses, false);
  for (Row& row : test) {
    if (row.class_name == name_of(2)) row.class_name = "another name";
  }
  EXPECT_NEAR(accuracy(*updated, test), accuracy(before, rows_of(kClasses, false)), 1.0);
}

TEST(ExampleUpdate, IsTheSameForAnyOrderAndAnyNumberOfThreads) {
  std::vector<Row> rows = rows_of(kClasses, true);
  const Model before = fitted(rows_of(kClasses - 1, true));
  ExampleUpdateOptions options;
  options.threads = 1;
  const auto one = update_examples(before, data_of(rows), options);
  std::reverse(rows.begin(), rows.end());
  options.threads = 3;
  const auto three = update_examples(before, data_of(rows), options);
  EXPECT_EQ(numbers_of(one->head), numbers_of(three->head));
}

TEST(ExampleUpdate, LeavesLargeChangesToAFitAndRejectsWhatDoesNotFit) {
  const std::vector<Row> rows = rows_of(kClasses, true);
  const Model before = fitted(rows_of(kClasses - 1, true));
  ExampleUpdateOptions options;
  options.most = kShots - 1;
  EXPECT_FALSE(update_examples(before, data_of(rows), options).has_value());
  options.most = kShots;
  EXPECT_TRUE(update_examples(before, data_of(rows), options).has_value());
  TrainingData nameless = data_of(rows);
  nameless.paths.clear();
  EXPECT_THROW(update_examples(before, std::move(nameless)), Error);
  EXPECT_THROW(update_examples(before, data_of({rows.front()})), Error);
}

}  // namespace
}  // namespace annulus
