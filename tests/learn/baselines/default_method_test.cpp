// The default recipe as a method.
#include <gtest/gtest.h>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/calibration/calibration.h"
#include "annulus/learn/model/prepared_head.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

TEST(Methods, DefaultIsTheDefaultRecipeWhateverTheOthersFollow) {
  const Overlapping task = overlapping_classes();
  Recipe other = quick_recipe();
  set_seed(other, 5);
  Recipe expected = recipe_named("default");
  set_seed(expected, 5);
  const FitResult fit = fit_head(task.support, expected);
  const FittedMethod fitted = method_named("default").fit(task.support, {other}, {});
  EXPECT_EQ(fitted.epsilon, fit.epsilon);
  EXPECT_EQ(fitted.predict(task.queries.view()), predict_classes(fit.head, task.queries.view(), 0));
  EXPECT_NE(method_named("ibm2").fit(task.support, {other}, {}).epsilon, fit.epsilon);
}

TEST(Methods, DefaultHasTheProbabilitiesOfItsTemperature) {
  const Overlapping task = overlapping_classes();
  Recipe recipe = recipe_named("default");
  set_seed(recipe, 5);
  const FitResult fit = fit_head(task.support, recipe);
  const double temperature = calibrate(keep_support(task.support, {}), fit, recipe).temperature;
  EXPECT_NE(temperature, 1.0);
  Matrix<float> expected(task.queries.rows(), task.support.classes);
  predict_probabilities(fit.head, temperature, task.queries.view(), expected.view(), 0);
  const FittedMethod fitted = method_named("default").fit(task.support, {recipe}, {});
  Matrix<float> scores(expected.rows(), expected.cols());
  EXPECT_EQ(fitted.predict_and_score(task.queries.view(), scores.view()), fitted.predict(task.queries.view()));
  EXPECT_TRUE(fitted.probabilities);
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    for (std::size_t c = 0; c < scores.cols(); ++c) EXPECT_EQ(scores(i, c), expected(i, c));
  }
}

}  // namespace
}  // namespace annulus
