// What recipes do hangs on their fields, and one function runs them all.
#include "annulus/learn/method/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "annulus/task/synthetic.h"
#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

LabelledExamples few_examples() {
  const FeatureSet set = make_synthetic({.classes = 5, .train_rows = 4, .test_rows = 1, .dimension = 8, .noise = 0.8});
  return gather(set, draw_split(set, {3, 1}).support);
}

bool same_numbers(const Head<float>& a, const Head<float>& b) {
  return a.kind == b.kind && a.gain == b.gain && a.bias == b.bias && a.classes() == b.classes() &&
         std::equal(a.direction.data(), a.direction.data() + a.classes() * a.dimension(), b.direction.data());
}

TEST(Recipe, HasTheFieldsThatItsNamePromises) {
  for (const std::string& name : recipe_names()) {
    SCOPED_TRACE(name);
    const Recipe recipe = recipe_named(name);
    EXPECT_EQ(recipe.name, name);
    EXPECT_EQ(recipe.virtual_examples, name != "baseline");
    EXPECT_EQ(recipe.calibrate, !name.starts_with("paper"));
    EXPECT_EQ(recipe.ensemble.any(), name == "default");
    EXPECT_EQ(recipe.transform == TransformKind::kAuto, name == "default" || name == "baseline");
  }
  expect_error(ErrorKind::kUsage, "default, ibm2, paper, paper-resnet50, paper-episodes, episodes, baseline",
               [] { recipe_named("no such"); });
}

TEST(Recipe, ItsNameChangesNothing) {
  const LabelledExamples examples = few_examples();
  for (const char* const name : {"default", "baseline", "paper"}) {
    Recipe recipe = recipe_named(name);
    set_epochs(recipe, 5);
    set_virtual_count(recipe, 4);
    const FitResult named = fit_head(examples, recipe);
    recipe.name = "another";
    EXPECT_TRUE(same_numbers(named.head, fit_head(examples, recipe).head)) << name;
  }
}

TEST(Recipe, TheBaselineIsTheDefaultWithoutVirtualExamples) {
  const LabelledExamples examples = few_examples();
  Recipe plain = recipe_named("default");
  plain.virtual_examples = false;
  const FitResult expected = fit_head(examples, plain);
  const FitResult fit = fit_head(examples, recipe_named("baseline"));
  EXPECT_TRUE(same_numbers(fit.head, expected.head));
  EXPECT_EQ(fit.epsilon, 0.0);
  EXPECT_FALSE(fit.search);
  EXPECT_FALSE(fit.trained);
  EXPECT_EQ(fit.virtual_accuracy, fit.training_accuracy);
  EXPECT_FALSE(same_numbers(fit.head, fit_head(examples, recipe_named("default")).head));
}

}  // namespace
}  // namespace annulus
