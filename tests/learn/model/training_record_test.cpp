// Records say what a recipe was, and a recipe comes back from them; numbers that no recipe has are rejected.
#include "annulus/learn/model/training_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

TEST(TrainingRecord, GivesTheRecipeBack) {
  for (const std::string& name : recipe_names()) {
    SCOPED_TRACE(name);
    Recipe recipe = recipe_named(name);
    set_seed(recipe, 77);
    set_batch(recipe, 33);
    TrainingRecord record = record_of(recipe);
    FitResult fit;
    fit.ensemble = recipe.ensemble;
    record_fit(fit, record);
    const Recipe read = recipe_of_record(record);
    EXPECT_EQ(read.name, name);
    EXPECT_EQ(read.virtual_examples, recipe.virtual_examples);
    EXPECT_EQ(read.final_training.learning_rate, recipe.final_training.learning_rate);
    EXPECT_EQ(read.baseline.learning_rate, recipe.baseline.learning_rate);
    EXPECT_EQ(read.final_training.seed, 77U);
    EXPECT_EQ(read.final_training.batch, 33U);
    EXPECT_EQ(read.ensemble, recipe.ensemble);
    EXPECT_EQ(read.noise_shape, recipe.noise_shape);
  }
}

TEST(TrainingRecord, RecordsASearchOnlyWhereThereIsOne) {
  Recipe recipe = recipe_named("default");
  EXPECT_EQ(record_of(recipe).search.threshold, recipe.search.threshold);
  recipe.epsilon = 1.5;
  EXPECT_EQ(record_of(recipe).epsilon_given, 1.5);
  EXPECT_EQ(record_of(recipe).search, TrainingRecord::Search{});
  recipe.virtual_examples = false;
  EXPECT_EQ(record_of(recipe).epsilon_given, std::nullopt);
}

TEST(TrainingRecord, RecordsEnsembleHeadsAndTheMetricOfAFit) {
  TrainingRecord record;
  FitResult fit;
  record_fit(fit, record);
  EXPECT_EQ(record.ensemble_ridge_weight, std::nullopt);
  EXPECT_EQ(record.metric_strength, std::nullopt);
  fit.ensemble = {0.0, 0.5, 3.0, 0.25};
  fit.metric.strength = 2.0;
  fit.metric.shrinkage = 0.75;
  fit.metric.examples = 12;
  record_fit(fit, record);
  EXPECT_EQ(record.ensemble_ridge_weight, 0.0);
  EXPECT_EQ(record.ensemble_prototype_shots, 3.0);
  EXPECT_EQ(record.ensemble_prototype_weight, 0.25);
  EXPECT_EQ(record.metric_strength, 2.0);
  EXPECT_EQ(record.metric_shrinkage, 0.75);
  EXPECT_EQ(record.metric_examples, 12U);
}

TEST(TrainingRecord, NamesNoRecipeOrAnUnknownOne) {
  EXPECT_EQ(recipe_of_record({}).name, "ibm2");
  TrainingRecord record;
  record.recipe = "no such";
  record.virtual_examples = false;
  record.head = HeadKind::kLinear;
  const Recipe recipe = recipe_of_record(record);
  EXPECT_EQ(recipe.name, "ibm2");
  EXPECT_FALSE(recipe.virtual_examples);
  EXPECT_EQ(recipe.head, HeadKind::kLinear);
}

TEST(TrainingRecord, HostileNumbersAreRejected) {
  const auto rejected = [](const char* field, const std::function<void(TrainingRecord&)>& change) {
    TrainingRecord record = record_of(recipe_named("default"));
    change(record);
    expect_error(ErrorKind::kInput, std::string("expected ") + field + " in the training record",
                 [&] { recipe_of_record(record); });
  };
  rejected("virtual", [](TrainingRecord& record) { record.virtual_count = 0; });
  rejected("virtual", [](TrainingRecord& record) { record.virtual_count = std::size_t{1} << 40U; });
  rejected("batch", [](TrainingRecord& record) { record.batch = 0; });
  rejected("learning_rate", [](TrainingRecord& record) { record.learning_rate = std::nan(""); });
  rejected("learning_rate",
           [](TrainingRecord& record) { record.learning_rate = std::numeric_limits<double>::infinity(); });
  rejected("baseline_learning_rate", [](TrainingRecord& record) { record.baseline_learning_rate = -1.0; });
  rejected("label_smoothing", [](TrainingRecord& record) { record.label_smoothing = 1.0; });
  rejected("ensemble_ridge_weight", [](TrainingRecord& record) { record.ensemble_ridge_weight = -1.0; });
  rejected("ensemble_prototype_weight", [](TrainingRecord& record) { record.ensemble_prototype_weight = -1.0; });
  rejected("ensemble_ridge_penalty", [](TrainingRecord& record) { record.ensemble_ridge_penalty = 0.0; });
  rejected("ensemble_prototype_shots", [](TrainingRecord& record) { record.ensemble_prototype_shots = -1.0; });
}

}  // namespace
}  // namespace annulus
