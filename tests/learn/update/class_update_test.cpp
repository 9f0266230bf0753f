// Incremental updates: what a model knows afterwards, beside a fit of all examples, and what is rejected.
#include "annulus/learn/update/class_update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "annulus/base/error.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/model/training_record.h"
#include "annulus/learn/update/update_report.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/accuracy.h"

namespace annulus {
namespace {

constexpr std::size_t kClasses = 10;
constexpr std::size_t kShots = 5;

const FeatureSet& data() {
  static const FeatureSet set = [] {
    SyntheticOptions options;
    options.classes = kClasses;
    options.train_rows = kShots;
    options.test_rows = 20;
    options.dimension = 24;
    options.noise = 0.6;
    return make_synthetic(options);
  }();
  return set;
}

// Rows of classes [first, end), of the training or the test part.
LabelledExamples rows_of(std::size_t first, std::size_t end, bool train) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < data().rows(); ++i) {
    const auto label = static_cast<std::size_t>(data().labels()[i]);
    if (label >= first && label < end && (data().is_train()[i] != 0) == train) chosen.push_back(i);
  }
  LabelledExamples rows = gather(data(), chosen);
  rows.classes = end;
  return rows;
}

NewExamples examples_learnt(std::size_t label) { return {rows_of(label, label + 1, true).features, {}}; }

Recipe quick_recipe(const std::string& name, HeadKind kind) {
  Recipe recipe = recipe_named(name);
  recipe.head = kind;
  recipe.epsilon = 1.0;
  set_virtual_count(recipe, 8);
  set_noise_sharing(recipe, NoiseSharing::kGrouped);
  set_learning_rate(recipe, 0.05);
  set_epochs(recipe, 150);
  return recipe;
}

Model fitted(std::size_t classes, const Recipe& recipe) {
  LabelledExamples rows = rows_of(0, classes, true);
  Model model;
  model.support = keep_support(rows, {});
  FitResult fit = fit_head(rows, recipe);
  model.training = record_of(recipe);
  record_fit(fit, model.training);
  model.head = std::move(fit.head);
  model.trained = std::move(fit.trained);
  model.epsilon = fit.epsilon;
  for (std::size_t c = 0; c < classes; ++c) model.class_names.push_back(fmt::format("class {}", c));
  return model;
}

Model fitted(std::size_t classes) { return fitted(classes, quick_recipe("default", HeadKind::kCosine)); }

double accuracy(const Model& model, std::size_t first, std::size_t end) {
  return percent_right(model.head, rows_of(first, end, false));
}

std::vector<float> numbers_of(const Head<float>& head) {
  std::vector<float> numbers(head.direction.data(), head.direction.data() + head.classes() * head.dimension());
  numbers.insert(numbers.end(), head.gain.begin(), head.gain.end());
  numbers.insert(numbers.end(), head.bias.begin(), head.bias.end());
  return numbers;
}

void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "expected an error with \"" << part << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

struct Kind {
  const char* recipe;
  HeadKind head;
};

class UpdatesLikeAFit : public testing::TestWithParam<Kind> {};

TEST_P(UpdatesLikeAFit, OfAllExamples) {
  const Recipe recipe = quick_recipe(GetParam().recipe, GetParam().head);
  const Model whole = fitted(kClasses, recipe);
  Model model = fitted(kClasses - 3, recipe);
  for (std::size_t c = kClasses - 3; c < kClasses; ++c) {
    model = add_class(std::move(model), examples_learnt(c), fmt::format("class {}", c)).model;
  }
  EXPECT_EQ(model.class_names, whole.class_names);
  EXPECT_EQ(model.head.classes(), kClasses);
  EXPECT_EQ(model.head.kind, whole.head.kind);
  EXPECT_EQ(model.trained.has_value(), whole.trained.has_value());
  EXPECT_EQ(model.support.labels, whole.support.labels);
  EXPECT_NEAR(accuracy(model, 0, kClasses), accuracy(whole, 0, kClasses), 5.0);
  EXPECT_NEAR(accuracy(model, kClasses - 3, kClasses), accuracy(whole, kClasses - 3, kClasses), 12.0);
  EXPECT_GT(accuracy(model, 0, kClasses), 60.0);
}

INSTANTIATE_TEST_SUITE_P(Heads, UpdatesLikeAFit,
                         testing::Values(Kind{"default", HeadKind::kCosine}, Kind{"default", HeadKind::kLinear},
                                         Kind{"ibm2", HeadKind::kCosine}, Kind{"paper", HeadKind::kLinear},
                                         Kind{"baseline", HeadKind::kCosine}, Kind{"baseline", HeadKind::kLinear}));

TEST(ClassUpdate, TheSameForAnyNumberOfThreads) {
  const auto updated = [](int threads) {
    ModelUpdate update = add_class(fitted(6), examples_learnt(6), "seven", {threads});
    update = add_examples(std::move(update.model), examples_learnt(2), "class 2", {threads});
    const std::vector<std::string> names{"class 1"};
    return remove_classes(std::move(update.model), names, {threads}).model;
  };
  const Model one = updated(1);
  const Model three = updated(3);
  EXPECT_EQ(numbers_of(one.head), numbers_of(three.head));
  EXPECT_EQ(numbers_of(*one.trained), numbers_of(*three.trained));
}

TEST(ClassUpdate, RemovingGivesTheEnsembleHeadsOfTheRemainingExamples) {
  const std::vector<std::string> names{"class 3", "class 0"};
  const ModelUpdate update = remove_classes(fitted(kClasses), names);
  const Model& model = update.model;
  EXPECT_EQ(model.class_names.front(), "class 1");
  EXPECT_EQ(model.class_names[1], "class 2");
  EXPECT_EQ(model.class_names[2], "class 4");
  EXPECT_EQ(model.support.rows(), (kClasses - 2) * kShots);
  EXPECT_EQ(*std::max_element(model.support.labels.begin(), model.support.labels.end()), 7);
  EXPECT_EQ(update.report.old_examples, (kClasses - 2) * kShots);
  EXPECT_EQ(model.training.updates.classes_removed, 2U);
  // Whoever is removed and taught again is known again.
  Model again = remove_classes(fitted(kClasses), std::vector<std::string>{"class 9"}).model;
  EXPECT_EQ(accuracy(again, 9, 10), 0.0);
  again = add_class(std::move(again), examples_learnt(9), "class 9").model;
  EXPECT_NEAR(accuracy(again, 9, 10), accuracy(fitted(kClasses), 9, 10), 15.0);
}

TEST(ClassUpdate, AModelWithoutExamplesOnlyLosesTheRowsOfItsHead) {
  Model model = fitted(5);
  model.support = {};
  model.trained.reset();
  const std::vector<float> before = numbers_of(model.head);
  const ModelUpdate update = remove_classes(std::move(model), std::vector<std::string>{"class 4"});
  const std::vector<float> after = numbers_of(update.model.head);
  EXPECT_TRUE(std::equal(after.begin(), after.begin() + 4 * 24, before.begin()));
  EXPECT_EQ(update.report.old_examples, 0U);
}

TEST(ClassUpdate, ReportsTheLearntExamples) {
  const LabelledExamples test = rows_of(6, 7, false);
  ASSERT_EQ(test.features.rows(), 20U);
  Matrix<float> many(5 * 20, test.features.cols());
  for (std::size_t i = 0; i < many.rows(); ++i) {
    for (std::size_t j = 0; j < many.cols(); ++j) many(i, j) = test.features(i % 20, j) + 1e-3F * static_cast<float>(i);
  }
  ModelUpdate update = add_class(fitted(6), {many.clone(), {}}, "seven");
  EXPECT_EQ(update.report.examples_given, 100U);
  EXPECT_EQ(update.report.examples_learnt, kMostSupportExamples);
  EXPECT_LE(update.report.examples_learnt_correct, update.report.examples_learnt);
  EXPECT_EQ(update.model.support.rows(), 6 * kShots + kMostSupportExamples);
  update = add_examples(std::move(update.model), {std::move(many), {}}, "class 1");
  EXPECT_EQ(update.report.examples_learnt, kMostSupportExamples);
  EXPECT_EQ(update.model.training.updates.examples_added, kMostSupportExamples);
}

TEST(ClassUpdate, ExamplesOfAClassAreKeptUpToTheMaximum) {
  Model model = fitted(4);
  const LabelledExamples test = rows_of(2, 3, false);
  const double before = accuracy(model, 0, 4);
  ModelUpdate update = add_examples(std::move(model), {test.features.clone(), {}}, "class 2");
  EXPECT_EQ(update.report.examples_learnt, 20U);
  EXPECT_EQ(update.model.support.rows(), 4 * kShots + 20);
  EXPECT_EQ(update.model.training.updates.examples_added, 20U);
  EXPECT_GE(accuracy(update.model, 2, 3), 95.0);  // they are what it has now learnt
  EXPECT_GE(accuracy(update.model, 0, 4), before - 5.0);
  for (int i = 0; i < 3; ++i) {
    update = add_examples(std::move(update.model), {test.features.clone(), {}}, "class 2");
  }
  const auto& labels = update.model.support.labels;
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 2), static_cast<std::ptrdiff_t>(kMostSupportExamples));
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 1), static_cast<std::ptrdiff_t>(kShots));
}

TEST(ClassUpdate, ReportsTheMostSimilarAndTheChangedClasses) {
  // A twin of class 1: its rows under another name.
  const ModelUpdate update = add_class(fitted(6), examples_learnt(1), "twin");
  EXPECT_EQ(update.report.most_alike, "class 1");
  EXPECT_GT(update.report.alike_cosine, 0.99);
  EXPECT_EQ(update.report.old_examples, 6 * kShots);
  EXPECT_EQ(update.report.checked, 6 * kShots);
  EXPECT_EQ(update.report.examples_learnt, kShots);
  std::size_t changed = 0;
  for (const ClassChange& change : update.report.classes) changed += change.changed;
  EXPECT_EQ(changed, update.report.changed);
  // Equal rows cannot be told apart: what the twin gets right, class 1 loses.
  EXPECT_EQ(update.report.examples_learnt_correct, update.report.changed);
}

TEST(ClassUpdate, OfManyExamplesThoseOfSimilarClassesAndASampleAreChecked) {
  // The means of class c and c + 1 are the more alike the larger c is; 5 examples per class.
  constexpr std::size_t kMany = 1000;
  Matrix<float> means(kMany, 2);
  std::vector<std::int32_t> labels;
  for (std::size_t c = 0; c < kMany; ++c) {
    const double angle = 3.0 * std::sqrt(static_cast<double>(c) / kMany);
    means(c, 0) = static_cast<float>(std::cos(angle));
    means(c, 1) = static_cast<float>(std::sin(angle));
    if (c + 1 < kMany) labels.insert(labels.end(), kShots, static_cast<std::int32_t>(c));
  }
  std::vector<bool> changed(kMany, false);
  changed.back() = true;  // new: no rows before
  const std::vector<std::size_t> checked = examples_to_check(means, changed, labels);
  EXPECT_EQ(checked.size(), 1024U);
  EXPECT_TRUE(std::is_sorted(checked.begin(), checked.end()));
  EXPECT_EQ(std::adjacent_find(checked.begin(), checked.end()), checked.end());
  std::vector<std::size_t> counts(kMany, 0);
  for (const std::size_t row : checked) ++counts[static_cast<std::size_t>(labels[row])];
  EXPECT_TRUE(std::all_of(counts.begin() + 900, counts.end() - 1, [](std::size_t count) { return count == kShots; }));
  EXPECT_TRUE(std::all_of(counts.begin(), counts.begin() + 890, [](std::size_t count) { return count <= 1; }));
  const auto total = [&](std::size_t first) {
    return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(first),
                           counts.begin() + static_cast<std::ptrdiff_t>(first) + 100, std::size_t{0});
  };
  EXPECT_NEAR(static_cast<double>(total(0)), static_cast<double>(total(600)), 2.0) << "evenly spaced";
  labels.resize(1024);
  EXPECT_EQ(examples_to_check(means, changed, labels).size(), 1024U);
  EXPECT_EQ(examples_to_check(means, {}, std::vector<std::int32_t>(5000, 3)).size(), 1024U);
}

TEST(ClassUpdate, InALargeModelOnlyTheChangedClassIsTrained) {
  constexpr std::size_t kMany = 530;
  SyntheticOptions options;
  options.classes = kMany + 1;
  options.train_rows = 4;
  options.test_rows = 1;
  options.dimension = 16;
  const FeatureSet set = make_synthetic(options);
  std::vector<std::uint32_t> old_rows;
  std::vector<std::uint32_t> new_ones;
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (set.is_train()[i] != 0) (set.labels()[i] < static_cast<std::int32_t>(kMany) ? old_rows : new_ones).push_back(i);
  }
  Recipe recipe = quick_recipe("default", HeadKind::kCosine);
  set_epochs(recipe, 3);
  const auto updated = [&](int threads) {
    LabelledExamples rows = gather(set, old_rows);
    rows.classes = kMany;
    Model model;
    model.support = keep_support(rows, {});
    FitResult fit = fit_head(rows, recipe);
    model.head = std::move(fit.head);
    model.trained = std::move(fit.trained);
    model.epsilon = fit.epsilon;
    model.training = record_of(recipe);
    for (std::size_t c = 0; c < kMany; ++c) model.class_names.push_back(fmt::format("class {}", c));
    const std::vector<float> before = numbers_of(*model.trained);
    ModelUpdate update = add_class(std::move(model), {gather(set, new_ones).features, {}}, "new", {threads, 0.0});
    const std::vector<float> after = numbers_of(*update.model.trained);
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + kMany * 16, before.begin()));
    EXPECT_EQ(update.report.old_examples, 4 * kMany);
    EXPECT_EQ(update.report.checked, 1024U);
    EXPECT_EQ(update.model.head.classes(), kMany + 1);
    // More rows of it move it alone again.
    update = add_examples(std::move(update.model), {gather(set, new_ones).features, {}}, "new", {threads, 0.0});
    const std::vector<float> again = numbers_of(*update.model.trained);
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + kMany * 16, again.begin()));
    EXPECT_FALSE(std::equal(after.begin() + kMany * 16, after.begin() + (kMany + 1) * 16, again.begin() + kMany * 16));
    return numbers_of(update.model.head);
  };
  EXPECT_EQ(updated(1), updated(3));
}

TEST(ClassUpdate, PathsStayWithTheirRows) {
  Model model = fitted(3);
  NewExamples rows = examples_learnt(3);
  for (std::size_t i = 0; i < kShots; ++i) rows.paths.push_back(fmt::format("{}.jpg", i));
  model = add_class(std::move(model), std::move(rows), "class 3").model;
  ASSERT_EQ(model.support.paths.size(), model.support.rows());
  EXPECT_EQ(model.support.paths[0], "");
  EXPECT_EQ(model.support.paths.back(), "4.jpg");
}

TEST(ClassUpdate, RejectsInvalidUpdates) {
  const ErrorKind input = ErrorKind::kInput;
  expect_error(input, "found \"class 1\", which the model has",
               [] { add_class(fitted(3), examples_learnt(3), "class 1"); });
  expect_error(input, "found \"nobody\"", [] { add_examples(fitted(3), examples_learnt(3), "nobody"); });
  expect_error(input, "found \"nobody\"", [] { remove_classes(fitted(3), std::vector<std::string>{"nobody"}); });
  expect_error(input, "at least two classes", [] {
    remove_classes(fitted(3), std::vector<std::string>{"class 0", "class 1"});
  });
  expect_error(input, "\"class 0\" twice", [] {
    remove_classes(fitted(4), std::vector<std::string>{"class 0", "class 0"});
  });
  expect_error(input, "found none", [] { add_class(fitted(3), {Matrix<float>(0, 24), {}}, "x"); });
  expect_error(input, "dimension 24", [] { add_class(fitted(3), {Matrix<float>(2, 23), {}}, "x"); });
  expect_error(input, "length", [] { add_class(fitted(3), {Matrix<float>(2, 24), {}}, "x"); });
  expect_error(input, "with its training examples", [] {
    Model model = fitted(3);
    model.support = {};
    add_class(std::move(model), examples_learnt(3), "x");
  });
  expect_error(input, "with its trained head", [] {
    Model model = fitted(3);
    model.trained.reset();
    add_class(std::move(model), examples_learnt(3), "x");
  });
  expect_error(input, "none of \"class 2\"", [] {
    Model model = fitted(3);
    for (std::int32_t& label : model.support.labels) label = std::min(label, 1);
    add_class(std::move(model), examples_learnt(3), "x");
  });
}

}  // namespace
}  // namespace annulus
