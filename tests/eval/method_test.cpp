// Every method on rows whose answers are known, and its independence of threads.
#include "annulus/eval/method.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/eval/softmax_regression.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/learn/calibration.h"
#include "annulus/learn/prediction.h"
#include "annulus/task/synthetic.h"
#include "tests/eval/quick_recipe.h"

namespace annulus {
namespace {

using Classes = std::vector<std::int32_t>;

// Points on a circle of any radius: methods see directions alone.
Matrix<float> at_degrees(const std::vector<double>& degrees) {
  Matrix<float> rows(degrees.size(), 2);
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    const double radius = 1.0 + static_cast<double>(i);
    rows(i, 0) = static_cast<float>(radius * std::cos(degrees[i] * std::acos(-1.0) / 180.0));
    rows(i, 1) = static_cast<float>(radius * std::sin(degrees[i] * std::acos(-1.0) / 180.0));
  }
  return rows;
}

// Tight classes all around the circle, or classes unlike those of overlapping_classes().
const BaseClasses& base_of(std::size_t dimension) {
  static const BaseClasses kCircle = [] {
    std::vector<double> degrees;
    std::vector<std::int32_t> labels;
    for (std::int32_t c = 0; c < 36; ++c) {
      for (const double offset : {-1.0, 0.0, 1.0}) {
        degrees.push_back(10.0 * c + offset);
        labels.push_back(c);
      }
    }
    FeatureSetParts parts = parts_of(at_degrees(degrees));
    parts.labels = std::move(labels);
    return BaseClasses(FeatureSet(std::move(parts)));
  }();
  static const BaseClasses kOthers = [] {
    SyntheticOptions options;
    options.classes = 10;
    options.dimension = 24;
    options.seed = 77;
    return BaseClasses(make_synthetic(options));
  }();
  return dimension == 2 ? kCircle : kOthers;
}

std::vector<std::int32_t> answers(const std::string& method, const LabelledRows& support,
                                  ConstMatrixView<float> queries) {
  const Recipe recipe = quick_recipe();
  return method_named(method).fit(support, {recipe, &base_of(queries.cols())}, {}).predict(queries);
}

struct Overlapping {
  LabelledRows support;
  Matrix<float> queries;
  Classes truth;
};

Overlapping overlapping_classes() {
  SyntheticOptions options;
  options.classes = 12;
  options.dimension = 24;
  options.noise = 1.2;
  const FeatureSet set = make_synthetic(options);
  const Split split = draw_split(set, {.shots = 3, .seed = 4});
  Overlapping result{gather(set, split.support), Matrix<float>(split.query.size(), set.dimension()),
                     set.labels_of(split.query)};
  set.copy_rows(split.query, result.queries.view());
  return result;
}

TEST(Methods, NearestClassMeanTakesTheNearestAndSimpleShotTheNearestAfterCentring) {
  const LabelledRows support{at_degrees({0, 20, 90}), {0, 1, 2}, 3};
  const Matrix<float> query = at_degrees({50});
  EXPECT_EQ(answers("ncm", support, query.view()), Classes{1});
  // Seen from the mean of the three, the row at 50 degrees lies towards the one at 90.
  EXPECT_EQ(answers("simpleshot", support, query.view()), Classes{2});
}

TEST(Methods, SimpleShotNamesEvenTheCentre) {
  const LabelledRows support{at_degrees({0, 0}), {0, 1}, 2};
  EXPECT_EQ(answers("simpleshot", support, at_degrees({0}).view()), Classes{0});
}

TEST(Methods, NeighboursVoteAndOfEqualsTheFirstClassWins) {
  // One row a class: the nearest alone.
  const LabelledRows one{at_degrees({0, 60}), {0, 1}, 2};
  EXPECT_EQ(answers("knn", one, at_degrees({10, 40}).view()), (Classes{0, 1}));
  // Two rows a class: at 30 degrees one vote each, although class 1 is nearer.
  const LabelledRows two{at_degrees({-170, 0, 40, 90}), {0, 0, 1, 1}, 2};
  EXPECT_EQ(answers("knn", two, at_degrees({30, 60}).view()), (Classes{0, 1}));
  // Three rows a class: two votes beat the nearest.
  const LabelledRows three{at_degrees({20, -20, 180, 1, 120, 150}), {0, 0, 0, 1, 1, 1}, 2};
  EXPECT_EQ(answers("knn", three, at_degrees({0}).view()), Classes{0});
}

TEST(Methods, CacheAddsUpTheAffinitiesOfAClass) {
  // exp(-5.5 (1 - cos 20)) = 0.72, twice, against exp(-5.5 (1 - cos 10)) = 0.92.
  const LabelledRows support{at_degrees({20, -20, 10, 180}), {0, 0, 1, 1}, 2};
  EXPECT_EQ(answers("cache", support, at_degrees({0}).view()), Classes{0});
  // exp(-5.5 (1 - cos 60)) = 0.06, twice, against the same 0.92.
  const LabelledRows far{at_degrees({60, -60, 10, 180}), {0, 0, 1, 1}, 2};
  EXPECT_EQ(answers("cache", far, at_degrees({0}).view()), Classes{1});
}

TEST(Methods, RidgeWeighsAllRows) {
  // With x = +-e1 and targets +-1, (x x^T + 1) a = y gives w = 2 / 3 along e1 for the class at 0 degrees.
  const LabelledRows support{at_degrees({0, 180}), {0, 1}, 2};
  EXPECT_EQ(answers("ridge", support, at_degrees({80, 100, -80, -100}).view()), (Classes{0, 1, 0, 1}));
}

// Base classes vary in their first number alone, so calibration learns not to trust it. Nearest class mean does, and is
// misled.
TEST(Methods, CalibrationBorrowsTheSpreadOfBaseClasses) {
  const std::vector<std::pair<float, float>> kinds{{0.4F, 0.2F}, {0.2F, 0.4F}, {0.3F, 0.3F}, {0.4F, 0.4F}};
  Matrix<float> base(kinds.size() * 20, 4);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < base.rows(); ++i) {
    const auto [second, third] = kinds[i / 20];
    const auto place = static_cast<float>(i % 20);
    const float row[] = {0.05F + 0.06F * place, second, third, 0.5F};
    std::copy(std::begin(row), std::end(row), base.row(i).begin());
    labels.push_back(static_cast<std::int32_t>(i / 20));
  }
  FeatureSetParts parts = parts_of(std::move(base));
  parts.labels = std::move(labels);
  const BaseClasses classes{FeatureSet(std::move(parts))};

  LabelledRows support{Matrix<float>(2, 4), {0, 1}, 2};
  const float first[] = {1.0F, 0.4F, 0.2F, 0.5F};
  const float second[] = {0.2F, 0.2F, 0.4F, 0.5F};
  const float asked[] = {0.2F, 0.4F, 0.2F, 0.5F};  // the first but for its first number
  std::copy(std::begin(first), std::end(first), support.features.row(0).begin());
  std::copy(std::begin(second), std::end(second), support.features.row(1).begin());
  const ConstMatrixView<float> query(asked, 1, 4);
  const Recipe recipe = quick_recipe();
  EXPECT_EQ(method_named("ncm").fit(support, {recipe}, {}).predict(query), Classes{1});
  EXPECT_EQ(method_named("dc").fit(support, {recipe, &classes}, {}).predict(query), Classes{0});
}

TEST(Methods, CalibrationRefusesToRunWithoutFittingBaseClasses) {
  const std::vector<std::string> names{"ncm", "dc"};
  check_methods(names, &base_of(24), 24);
  try {
    check_methods(names, nullptr, 24);
    ADD_FAILURE() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(), "method dc expects the features of base classes (--base FILE), found none");
  }
  try {
    check_methods(names, &base_of(24), 25);
    ADD_FAILURE() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
  }
}

TEST(BaseClasses, DeviationsHaveTheCovarianceOfTheirClass) {
  Matrix<float> rows(3, 2);
  const float values[] = {0.6F, 0.8F, 0.8F, 0.6F, 1.0F, 0.0F};
  std::copy(std::begin(values), std::end(values), rows.data());
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.labels = {0, 0, 0};
  const BaseClasses base{FeatureSet(std::move(parts))};
  const double x[] = {std::sqrt(0.6), std::sqrt(0.8), 1.0};
  const double mean = (x[0] + x[1] + x[2]) / 3.0;
  EXPECT_NEAR(base.means()(0, 0), mean, 1e-6);
  double variance = 0.0;
  for (const double value : x) variance += (value - mean) * (value - mean) / 2.0;
  const Matrix<float> deviations = base.deviations(0);
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i) sum += std::pow(static_cast<double>(deviations(i, 0)), 2);
  EXPECT_NEAR(sum, variance, 1e-6);
}

TEST(BaseClasses, RefusesAClassWithOneRowAndRowsWithoutLabels) {
  FeatureSetParts lonely = parts_of(at_degrees({0, 1, 90}));
  lonely.labels = {0, 0, 1};
  EXPECT_THROW(BaseClasses{FeatureSet(std::move(lonely))}, Error);
  EXPECT_THROW(BaseClasses{FeatureSet(parts_of(at_degrees({0, 1})))}, Error);
}

TEST(Methods, DefaultIsTheDefaultRecipeWhateverTheOthersFollow) {
  const Overlapping task = overlapping_classes();
  Recipe other = quick_recipe();
  set_seed(other, 5);
  Recipe expected = recipe_named("default");
  set_seed(expected, 5);
  const FitResult fit = fit_ibm2(task.support, expected);
  const FittedMethod fitted = method_named("default").fit(task.support, {other}, {});
  EXPECT_EQ(fitted.epsilon, fit.epsilon);
  EXPECT_EQ(fitted.predict(task.queries.view()), predict_classes(fit.head, task.queries.view(), 0));
  EXPECT_NE(method_named("ibm2").fit(task.support, {other}, {}).epsilon, fit.epsilon);
}

TEST(Methods, DefaultHasTheProbabilitiesOfItsTemperature) {
  const Overlapping task = overlapping_classes();
  Recipe recipe = recipe_named("default");
  set_seed(recipe, 5);
  const FitResult fit = fit_ibm2(task.support, recipe);
  const double temperature = calibrate(keep_support(task.support, {}), fit, recipe, fit_ibm2).temperature;
  EXPECT_NE(temperature, 1.0);
  Matrix<float> expected(task.queries.rows(), task.support.classes);
  predict_probabilities(fit.head, temperature, task.queries.view(), expected.view(), 0);
  const FittedMethod fitted = method_named("default").fit(task.support, {recipe}, {});
  Matrix<float> scores(expected.rows(), expected.cols());
  fitted.score(task.queries.view(), scores.view());
  EXPECT_TRUE(fitted.probabilities);
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    for (std::size_t c = 0; c < scores.cols(); ++c) EXPECT_EQ(scores(i, c), expected(i, c));
  }
}

TEST(Methods, EveryOneLearnsOverlappingClassesFarBetterThanChance) {
  const Overlapping task = overlapping_classes();
  for (const Method& method : methods()) {
    const Classes named = answers(std::string(method.name), task.support, task.queries.view());
    ASSERT_EQ(named.size(), task.queries.rows());
    std::size_t hits = 0;
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (named[i] == task.truth[i]) ++hits;
    }
    EXPECT_GT(3 * hits, named.size()) << method.name;  // chance is one in twelve
  }
}

// Alone, among other threads that fit as well, and with threads of its own: the same answers.
TEST(Methods, ThreadsDoNotMatter) {
  const Overlapping task = overlapping_classes();
  Recipe recipe = quick_recipe();
  for (const Method& method : methods()) {
    set_threads(recipe, 1);
    const Classes alone = method.fit(task.support, {recipe, &base_of(24)}, {}).predict(task.queries.view());
    std::vector<Classes> together(4);
    parallel_for(3, together.size(), [&](std::size_t i) {
      together[i] = method.fit(task.support, {recipe, &base_of(24)}, {}).predict(task.queries.view());
    });
    for (const Classes& named : together) EXPECT_EQ(named, alone) << method.name;
    set_threads(recipe, 3);
    EXPECT_EQ(method.fit(task.support, {recipe, &base_of(24)}, {}).predict(task.queries.view()), alone) << method.name;
  }
}

TEST(Methods, ARowIsNamedTheSameWhateverStandsBesideIt) {
  const Overlapping task = overlapping_classes();
  const Recipe recipe = quick_recipe();
  for (const Method& method : methods()) {
    const FittedMethod fitted = method.fit(task.support, {recipe, &base_of(24)}, {});
    const Classes together = fitted.predict(task.queries.view());
    for (const std::size_t i : {std::size_t{0}, std::size_t{17}, task.queries.rows() - 1}) {
      EXPECT_EQ(fitted.predict(task.queries.view().rows_at(i, 1)), Classes{together[i]}) << method.name;
    }
  }
}

// With equal rows in two classes there is nothing to learn between them, and still an answer.
TEST(Methods, EqualRowsAreNoFault) {
  const LabelledRows support{at_degrees({0, 0, 0, 0, 90, 90}), {0, 0, 1, 1, 2, 2}, 3};
  for (const Method& method : methods()) {
    const Classes named = answers(std::string(method.name), support, at_degrees({85, 5}).view());
    EXPECT_EQ(named[0], 2) << method.name;
    EXPECT_LT(named[1], 2) << method.name;
  }
}

// One class against another, where some libraries keep a single vector of weights.
TEST(Methods, TwoClassesAreEnough) {
  const LabelledRows support{at_degrees({10, -10, 100, 80}), {1, 1, 0, 0}, 2};
  for (const Method& method : methods()) {
    EXPECT_EQ(answers(std::string(method.name), support, at_degrees({20, 70}).view()), (Classes{1, 0})) << method.name;
  }
}

TEST(Methods, PrintNothing) {
  const Overlapping task = overlapping_classes();
  for (const Method& method : methods()) {
    testing::internal::CaptureStdout();
    answers(std::string(method.name), task.support, task.queries.view());
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << method.name;
  }
}

TEST(Methods, LogisticRegressionFindsItsOptimumOnAnyFewRows) {
  // Five rows that are nearly the same, as an episode of one shot has them.
  const std::vector<std::int32_t> labels = {0, 1, 2, 3, 4};
  Matrix<float> rows(5, 64);
  for (std::uint64_t problem = 0; problem < 500; ++problem) {
    std::vector<float> numbers(5 * 64);
    fill_gaussian(RandomStream{problem, RandomUse::kSynthetic}, 0, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) rows.data()[i] = 0.125F + 0.005F * numbers[i];
    ASSERT_NO_THROW(softmax_regression(rows.view(), labels, 5, {}, {})) << problem;
  }
}

TEST(Methods, StopWhenProgressSaysSo) {
  const Overlapping task = overlapping_classes();
  const Recipe recipe = quick_recipe();
  for (const Method& method : methods()) {
    EXPECT_THROW(method.fit(task.support, {recipe, &base_of(24)}, [](const Progress&) { return false; }), Error)
        << method.name;
  }
}

}  // namespace
}  // namespace annulus
