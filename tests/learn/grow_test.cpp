// Growing and shrinking: what a model knows afterwards, beside a fit of all rows, and what is refused.
#include "annulus/learn/grow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "annulus/base/error.h"
#include "annulus/learn/growth_report.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/recipe.h"
#include "annulus/learn/recipe_record.h"
#include "annulus/task/synthetic.h"
#include "tests/learn/accuracy.h"

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
LabelledRows rows_of(std::size_t first, std::size_t end, bool train) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < data().rows(); ++i) {
    const auto label = static_cast<std::size_t>(data().labels()[i]);
    if (label >= first && label < end && (data().is_train()[i] != 0) == train) chosen.push_back(i);
  }
  LabelledRows rows = gather(data(), chosen);
  rows.classes = end;
  return rows;
}

NewRows new_rows(std::size_t label) { return {rows_of(label, label + 1, true).features, {}}; }

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

enum class Method { kIbm2, kBaseline };

Model fitted(std::size_t classes, const Recipe& recipe, Method method = Method::kIbm2) {
  LabelledRows rows = rows_of(0, classes, true);
  Model model;
  model.support = keep_support(rows, {});
  FitResult fit = method == Method::kBaseline ? fit_baseline(rows, recipe) : fit_ibm2(rows, recipe);
  model.head = std::move(fit.head);
  model.trained = std::move(fit.trained);
  model.epsilon = fit.epsilon;
  model.training = describe(recipe);
  if (method == Method::kBaseline) model.training["method"] = "baseline";
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
  Method method;
};

class GrowsLikeAFit : public testing::TestWithParam<Kind> {};

TEST_P(GrowsLikeAFit, OfAllRows) {
  const Recipe recipe = quick_recipe(GetParam().recipe, GetParam().head);
  const Model whole = fitted(kClasses, recipe, GetParam().method);
  Model model = fitted(kClasses - 3, recipe, GetParam().method);
  for (std::size_t c = kClasses - 3; c < kClasses; ++c) {
    model = add_class(std::move(model), new_rows(c), fmt::format("class {}", c)).model;
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

INSTANTIATE_TEST_SUITE_P(Heads, GrowsLikeAFit,
                         testing::Values(Kind{"default", HeadKind::kCosine, Method::kIbm2},
                                         Kind{"default", HeadKind::kLinear, Method::kIbm2},
                                         Kind{"ibm2", HeadKind::kCosine, Method::kIbm2},
                                         Kind{"paper", HeadKind::kLinear, Method::kIbm2},
                                         Kind{"default", HeadKind::kCosine, Method::kBaseline},
                                         Kind{"default", HeadKind::kLinear, Method::kBaseline}));

TEST(Grow, TheSameForAnyNumberOfThreads) {
  const auto grown = [](int threads) {
    Growth growth = add_class(fitted(6), new_rows(6), "seven", {threads});
    growth = add_examples(std::move(growth.model), new_rows(2), "class 2", {threads});
    const std::vector<std::string> names{"class 1"};
    return remove_classes(std::move(growth.model), names, {threads}).model;
  };
  const Model one = grown(1);
  const Model three = grown(3);
  EXPECT_EQ(numbers_of(one.head), numbers_of(three.head));
  EXPECT_EQ(numbers_of(*one.trained), numbers_of(*three.trained));
}

TEST(Grow, RemovingGivesTheCompanionsOfTheRowsLeft) {
  const std::vector<std::string> names{"class 3", "class 0"};
  const Growth growth = remove_classes(fitted(kClasses), names);
  const Model& model = growth.model;
  EXPECT_EQ(model.class_names.front(), "class 1");
  EXPECT_EQ(model.class_names[1], "class 2");
  EXPECT_EQ(model.class_names[2], "class 4");
  EXPECT_EQ(model.support.rows(), (kClasses - 2) * kShots);
  EXPECT_EQ(*std::max_element(model.support.labels.begin(), model.support.labels.end()), 7);
  EXPECT_EQ(growth.report.old_rows, (kClasses - 2) * kShots);
  EXPECT_EQ(model.training.at("grown_classes_removed"), "2");
  // Whoever is removed and taught again is known again.
  Model again = remove_classes(fitted(kClasses), std::vector<std::string>{"class 9"}).model;
  EXPECT_EQ(accuracy(again, 9, 10), 0.0);
  again = add_class(std::move(again), new_rows(9), "class 9").model;
  EXPECT_NEAR(accuracy(again, 9, 10), accuracy(fitted(kClasses), 9, 10), 15.0);
}

TEST(Grow, AModelWithoutRowsOnlyLosesTheRowsOfItsHead) {
  Model model = fitted(5);
  model.support = {};
  model.trained.reset();
  const std::vector<float> before = numbers_of(model.head);
  const Growth growth = remove_classes(std::move(model), std::vector<std::string>{"class 4"});
  const std::vector<float> after = numbers_of(growth.model.head);
  EXPECT_TRUE(std::equal(after.begin(), after.begin() + 4 * 24, before.begin()));
  EXPECT_EQ(growth.report.old_rows, 0U);
}

TEST(Grow, TellsOfTheRowsThatItLearnt) {
  const LabelledRows test = rows_of(6, 7, false);
  ASSERT_EQ(test.features.rows(), 20U);
  Matrix<float> many(5 * 20, test.features.cols());
  for (std::size_t i = 0; i < many.rows(); ++i) {
    for (std::size_t j = 0; j < many.cols(); ++j) many(i, j) = test.features(i % 20, j) + 1e-3F * static_cast<float>(i);
  }
  Growth growth = add_class(fitted(6), {many.clone(), {}}, "seven");
  EXPECT_EQ(growth.report.given_rows, 100U);
  EXPECT_EQ(growth.report.new_rows, kMostSupportRows);
  EXPECT_LE(growth.report.new_right, growth.report.new_rows);
  EXPECT_EQ(growth.model.support.rows(), 6 * kShots + kMostSupportRows);
  growth = add_examples(std::move(growth.model), {std::move(many), {}}, "class 1");
  EXPECT_EQ(growth.report.new_rows, kMostSupportRows);
  EXPECT_EQ(growth.model.training.at("grown_rows_added"), std::to_string(kMostSupportRows));
}

TEST(Grow, MoreRowsOfAClassAreKeptUpToTheMost) {
  Model model = fitted(4);
  const LabelledRows test = rows_of(2, 3, false);
  const double before = accuracy(model, 0, 4);
  Growth growth = add_examples(std::move(model), {test.features.clone(), {}}, "class 2");
  EXPECT_EQ(growth.report.new_rows, 20U);
  EXPECT_EQ(growth.model.support.rows(), 4 * kShots + 20);
  EXPECT_EQ(growth.model.training.at("grown_rows_added"), "20");
  EXPECT_GE(accuracy(growth.model, 2, 3), 95.0);  // they are what it has now learnt
  EXPECT_GE(accuracy(growth.model, 0, 4), before - 5.0);
  for (int i = 0; i < 3; ++i) {
    growth = add_examples(std::move(growth.model), {test.features.clone(), {}}, "class 2");
  }
  const auto& labels = growth.model.support.labels;
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 2), static_cast<std::ptrdiff_t>(kMostSupportRows));
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 1), static_cast<std::ptrdiff_t>(kShots));
}

TEST(Grow, ReportsWhoIsMostAlikeAndWhoChanges) {
  // A twin of class 1: its rows under another name.
  const Growth growth = add_class(fitted(6), new_rows(1), "twin");
  EXPECT_EQ(growth.report.most_alike, "class 1");
  EXPECT_GT(growth.report.alike_cosine, 0.99);
  EXPECT_EQ(growth.report.old_rows, 6 * kShots);
  EXPECT_EQ(growth.report.asked, 6 * kShots);
  EXPECT_EQ(growth.report.new_rows, kShots);
  std::size_t changed = 0;
  for (const ClassChange& change : growth.report.classes) changed += change.changed;
  EXPECT_EQ(changed, growth.report.changed);
  // Equal rows cannot be told apart: what the twin gets right, class 1 loses.
  EXPECT_EQ(growth.report.new_right, growth.report.changed);
}

TEST(Grow, OfManyRowsThoseOfAlikeClassesAndASampleAreAsked) {
  // The means of class c and c + 1 are the more alike the larger c is; 5 rows a class.
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
  const std::vector<std::size_t> asked = rows_to_ask(means, changed, labels);
  EXPECT_EQ(asked.size(), 1024U);
  EXPECT_TRUE(std::is_sorted(asked.begin(), asked.end()));
  EXPECT_EQ(std::adjacent_find(asked.begin(), asked.end()), asked.end());
  std::vector<std::size_t> counts(kMany, 0);
  for (const std::size_t row : asked) ++counts[static_cast<std::size_t>(labels[row])];
  EXPECT_TRUE(std::all_of(counts.begin() + 900, counts.end() - 1, [](std::size_t count) { return count == kShots; }));
  EXPECT_TRUE(std::all_of(counts.begin(), counts.begin() + 890, [](std::size_t count) { return count <= 1; }));
  const auto total = [&](std::size_t first) {
    return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(first),
                           counts.begin() + static_cast<std::ptrdiff_t>(first) + 100, std::size_t{0});
  };
  EXPECT_NEAR(static_cast<double>(total(0)), static_cast<double>(total(600)), 2.0) << "evenly spaced";
  labels.resize(1024);
  EXPECT_EQ(rows_to_ask(means, changed, labels).size(), 1024U);
  EXPECT_EQ(rows_to_ask(means, {}, std::vector<std::int32_t>(5000, 3)).size(), 1024U);
}

TEST(Grow, InALargeModelOnlyTheChangedClassLearns) {
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
  const auto grown = [&](int threads) {
    LabelledRows rows = gather(set, old_rows);
    rows.classes = kMany;
    Model model;
    model.support = keep_support(rows, {});
    FitResult fit = fit_ibm2(rows, recipe);
    model.head = std::move(fit.head);
    model.trained = std::move(fit.trained);
    model.epsilon = fit.epsilon;
    model.training = describe(recipe);
    for (std::size_t c = 0; c < kMany; ++c) model.class_names.push_back(fmt::format("class {}", c));
    const std::vector<float> before = numbers_of(*model.trained);
    Growth growth = add_class(std::move(model), {gather(set, new_ones).features, {}}, "new", {threads, 0.0});
    const std::vector<float> after = numbers_of(*growth.model.trained);
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + kMany * 16, before.begin()));
    EXPECT_EQ(growth.report.old_rows, 4 * kMany);
    EXPECT_EQ(growth.report.asked, 1024U);
    EXPECT_EQ(growth.model.head.classes(), kMany + 1);
    // More rows of it move it alone again.
    growth = add_examples(std::move(growth.model), {gather(set, new_ones).features, {}}, "new", {threads, 0.0});
    const std::vector<float> again = numbers_of(*growth.model.trained);
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + kMany * 16, again.begin()));
    EXPECT_FALSE(std::equal(after.begin() + kMany * 16, after.begin() + (kMany + 1) * 16, again.begin() + kMany * 16));
    return numbers_of(growth.model.head);
  };
  EXPECT_EQ(grown(1), grown(3));
}

TEST(Grow, PathsStayWithTheirRows) {
  Model model = fitted(3);
  NewRows rows = new_rows(3);
  for (std::size_t i = 0; i < kShots; ++i) rows.paths.push_back(fmt::format("{}.jpg", i));
  model = add_class(std::move(model), std::move(rows), "class 3").model;
  ASSERT_EQ(model.support.paths.size(), model.support.rows());
  EXPECT_EQ(model.support.paths[0], "");
  EXPECT_EQ(model.support.paths.back(), "4.jpg");
}

TEST(Grow, RefusesWhatItCannotDo) {
  const ErrorKind input = ErrorKind::kInput;
  expect_error(input, "found \"class 1\", which the model has", [] { add_class(fitted(3), new_rows(3), "class 1"); });
  expect_error(input, "found \"nobody\"", [] { add_examples(fitted(3), new_rows(3), "nobody"); });
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
  expect_error(input, "with its training rows", [] {
    Model model = fitted(3);
    model.support = {};
    add_class(std::move(model), new_rows(3), "x");
  });
  expect_error(input, "with its trained head", [] {
    Model model = fitted(3);
    model.trained.reset();
    add_class(std::move(model), new_rows(3), "x");
  });
  expect_error(input, "none of \"class 2\"", [] {
    Model model = fitted(3);
    for (std::int32_t& label : model.support.labels) label = std::min(label, 1);
    add_class(std::move(model), new_rows(3), "x");
  });
}

TEST(RecipeRecord, IsTheRecipeItWasMadeFrom) {
  for (const std::string& name : recipe_names()) {
    Recipe recipe = recipe_named(name);
    set_seed(recipe, 77);
    set_batch(recipe, 33);
    const Recipe read = recipe_of_record(describe(recipe));
    EXPECT_EQ(read.final_training.learning_rate, recipe.final_training.learning_rate);
    EXPECT_EQ(read.baseline.learning_rate, recipe.baseline.learning_rate);
    EXPECT_EQ(read.final_training.seed, 77U);
    EXPECT_EQ(read.final_training.batch, 33U);
    EXPECT_EQ(read.companions.ridge_weight, recipe.companions.ridge_weight);
    EXPECT_EQ(read.companions.ridge_penalty, recipe.companions.ridge_penalty);
    EXPECT_EQ(read.noise_shape, recipe.noise_shape);
  }
}

TEST(RecipeRecord, HostileNumbersAreRefused) {
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"virtual", "0"},
                                                        {"virtual", "99999999999999999999"},
                                                        {"batch", "-3"},
                                                        {"learning_rate", "nan"},
                                                        {"learning_rate", "inf"},
                                                        {"label_smoothing", "1"},
                                                        {"seed", "x"},
                                                        {"companion_ridge", "0.7"},
                                                        {"companion_ridge", "0.7 at penalty 0"},
                                                        {"companion_mean_rows", "-1"}}) {
    std::map<std::string, std::string> record = describe(recipe_named("default"));
    record[key] = value;
    expect_error(ErrorKind::kInput, "training record", [&] { recipe_of_record(record); });
  }
  EXPECT_EQ(recipe_of_record({{"recipe", "no such"}}).name, "ibm2");
}

}  // namespace
}  // namespace annulus
