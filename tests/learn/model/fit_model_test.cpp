// A model is what its recipe and options say, and its record tells it.
#include "annulus/learn/model/fit_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "annulus/learn/model/predictor.h"
#include "annulus/task/synthetic.h"

namespace annulus {
namespace {

ModelFit quick_fit(Recipe recipe, const FitModelOptions& options = {}) {
  const FeatureSet set =
      make_synthetic({.classes = 12, .train_rows = 4, .test_rows = 1, .dimension = 16, .noise = 0.5});
  set_epochs(recipe, 5);
  set_virtual_count(recipe, 4);
  recipe.epsilon = 0.5;
  return fit_model(training_data(set, draw_split(set, {3, 1}).support), recipe, options);
}

TEST(FitModel, CalibratesWhereRecipeAndOptionsSayThat) {
  const ModelFit calibrated = quick_fit(recipe_named("ibm2"));
  EXPECT_NE(calibrated.model.temperature, 1.0);
  EXPECT_FALSE(calibrated.model.unknown.empty());
  EXPECT_EQ(calibrated.model.training.held_out.examples, calibrated.held_out.labels.size());
  Recipe recipe = recipe_named("ibm2");
  recipe.calibrate = false;
  FitModelOptions options;
  options.calibrate = false;
  const auto expect_plain = [](const ModelFit& plain) {
    EXPECT_EQ(plain.model.temperature, 1.0);
    EXPECT_TRUE(plain.model.unknown.empty());
    EXPECT_TRUE(plain.held_out.labels.empty());
    EXPECT_EQ(plain.model.training.held_out.examples, std::nullopt);
  };
  expect_plain(quick_fit(recipe));
  expect_plain(quick_fit(recipe_named("ibm2"), options));
}

TEST(FitModel, RecordsWhatWasDone) {
  const ModelFit fitted = quick_fit(recipe_named("default"));
  const TrainingRecord& record = fitted.model.training;
  EXPECT_EQ(record.recipe, "default");
  EXPECT_EQ(record.virtual_examples, true);
  EXPECT_EQ(record.epochs, 5U);
  EXPECT_EQ(record.examples, 36U);
  EXPECT_EQ(record.epsilon_given, 0.5);
  EXPECT_EQ(record.training_accuracy, fitted.fit.training_accuracy);
  EXPECT_TRUE(fitted.model.trained);
  const ModelFit baseline = quick_fit(recipe_named("baseline"));
  EXPECT_EQ(baseline.model.training.virtual_examples, false);
  EXPECT_EQ(baseline.model.epsilon, 0.0);
  EXPECT_FALSE(baseline.model.trained);
}

// Whatever the unit that features come in: finite rows have a direction, however long or short they are.
TEST(FitModel, RowsOfAnyLengthAreLearntAndPredicted) {
  const FeatureSet plain =
      make_synthetic({.classes = 6, .train_rows = 4, .test_rows = 3, .dimension = 16, .noise = 0.2});
  Recipe recipe = recipe_named("default");
  set_epochs(recipe, 5);
  set_virtual_count(recipe, 4);
  recipe.epsilon = 0.2;
  Matrix<float> usual(plain.rows(), plain.dimension());
  plain.copy_rows(0, usual.view());
  const auto answers = [&](float factor) {
    Matrix<float> rows(usual.rows(), usual.cols());
    std::transform(usual.data(), usual.data() + usual.rows() * usual.cols(), rows.data(),
                   [&](float value) { return factor * value; });
    const Matrix<float> asked = rows.clone();
    FeatureSetParts parts = parts_of(std::move(rows));
    parts.labels.assign(plain.labels().begin(), plain.labels().end());
    parts.is_train.assign(plain.is_train().begin(), plain.is_train().end());
    const FeatureSet set(std::move(parts));
    const Model model = fit_model(training_data(set, draw_split(set, {4, 1}).support), recipe, {}).model;
    std::vector<std::string> labels;
    for (const Prediction& prediction : Predictor(model, {}).predict(asked.view())) labels.push_back(prediction.label);
    return labels;
  };
  const std::vector<std::string> expected = answers(1.0F);
  for (const float factor : {1e35F, 1e20F, 1e-20F, 1e-33F}) EXPECT_EQ(answers(factor), expected) << factor;
}

// Twelve classes, the examples of class c with the label numbers[c], in some order.
TrainingData labelled_as(const std::vector<std::int32_t>& numbers, bool weighted) {
  const FeatureSet set =
      make_synthetic({.classes = 12, .train_rows = 4, .test_rows = 5, .dimension = 16, .noise = 0.5});
  std::vector<std::uint32_t> rows = draw_split(set, {4, 1}).support;
  if (numbers.front() != 0) std::reverse(rows.begin(), rows.end());
  TrainingData data = training_data(set, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    data.paths.push_back("row " + std::to_string(rows[i]));
    if (weighted) data.rows.weights.push_back(static_cast<float>(1 + rows[i] % 3));
    data.rows.labels[i] = numbers[static_cast<std::size_t>(data.rows.labels[i])];
  }
  return data;
}

std::vector<std::int32_t> same_names() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; }
std::vector<std::int32_t> other_names() { return {7, 2, 9, 0, 11, 4, 1, 10, 3, 8, 5, 6}; }

void expect_same_head(const Head<float>& head, const Head<float>& other, const std::vector<std::int32_t>& numbers) {
  ASSERT_EQ(head.classes(), numbers.size());
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    const auto number = static_cast<std::size_t>(numbers[c]);
    EXPECT_TRUE(std::ranges::equal(head.direction.row(c), other.direction.row(number))) << c;
    if (!head.gain.empty()) {
      EXPECT_EQ(head.gain[c], other.gain[number]);
    }
    if (!head.bias.empty()) {
      EXPECT_EQ(head.bias[c], other.bias[number]);
    }
  }
}

// By class, as numbers renumber it.
void expect_same_support(const SupportSet& support, const SupportSet& other, const std::vector<std::int32_t>& numbers) {
  ASSERT_EQ(support.rows(), other.rows());
  EXPECT_TRUE(std::is_sorted(other.labels.begin(), other.labels.end()));
  for (std::size_t i = 0, in_class = 0; i < support.rows(); ++i) {
    in_class = i > 0 && support.labels[i] == support.labels[i - 1] ? in_class + 1 : 0;
    const std::int32_t number = numbers[static_cast<std::size_t>(support.labels[i])];
    const auto first = std::lower_bound(other.labels.begin(), other.labels.end(), number) - other.labels.begin();
    const std::size_t place = static_cast<std::size_t>(first) + in_class;
    ASSERT_EQ(other.labels.at(place), number);
    EXPECT_EQ(other.paths[place], support.paths[i]);
    EXPECT_TRUE(std::ranges::equal(other.features.row(place), support.features.row(i)));
  }
}

void expect_same_predictions(const Model& model, const Model& other, const std::vector<std::int32_t>& numbers) {
  const FeatureSet set =
      make_synthetic({.classes = 12, .train_rows = 4, .test_rows = 5, .dimension = 16, .noise = 0.5});
  const Matrix<float> queries = gather(set, draw_split(set, {4, 1}).query).features.clone();
  const auto predictions = Predictor(model, {.false_reject = 0.2}).predict(queries.view());
  const auto others = Predictor(other, {.false_reject = 0.2}).predict(queries.view());
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    EXPECT_EQ(others[i].rejected, predictions[i].rejected) << i;
    // Both are sums over classes, in another order.
    EXPECT_NEAR(others[i].unknown_score, predictions[i].unknown_score, 1e-4F);
    EXPECT_NEAR(others[i].probability, predictions[i].probability, 1e-5F);
    EXPECT_EQ(others[i].top[0].index, numbers[static_cast<std::size_t>(predictions[i].top[0].index)]);
    if (predictions[i].rejected) ++rejected;
  }
  EXPECT_GT(rejected, 0U);
}

TEST(FitModel, TheNamesOfClassesDecideNothing) {
  for (const char* const name : {"default", "ibm2"}) {
    for (const bool weighted : {false, true}) {
      Recipe recipe = recipe_named(name);
      set_epochs(recipe, 5);
      set_virtual_count(recipe, 4);
      const ModelFit fitted = fit_model(labelled_as(same_names(), weighted), recipe, {});
      const ModelFit renamed = fit_model(labelled_as(other_names(), weighted), recipe, {});
      const Model& model = fitted.model;
      EXPECT_EQ(renamed.model.class_names, model.class_names);
      EXPECT_EQ(renamed.model.epsilon, model.epsilon);
      EXPECT_EQ(renamed.model.temperature, model.temperature);
      EXPECT_EQ(renamed.model.unknown.weights, model.unknown.weights);
      EXPECT_EQ(renamed.model.unknown.axes, model.unknown.axes);
      EXPECT_EQ(renamed.model.unknown.quantiles, model.unknown.quantiles);
      EXPECT_EQ(renamed.model.unknown.caught, model.unknown.caught);
      EXPECT_EQ(renamed.model.training, model.training);
      expect_same_head(model.head, renamed.model.head, other_names());
      ASSERT_EQ(renamed.model.trained.has_value(), model.trained.has_value());
      if (model.trained) expect_same_head(*model.trained, *renamed.model.trained, other_names());
      expect_same_support(model.support, renamed.model.support, other_names());
      expect_same_predictions(model, renamed.model, other_names());
      for (std::size_t i = 0; i < fitted.held_out.labels.size(); ++i) {
        const auto label = static_cast<std::size_t>(fitted.held_out.labels[i]);
        ASSERT_EQ(renamed.held_out.labels[i], other_names()[label]);
        for (std::size_t c = 0; c < 12; ++c) {
          ASSERT_EQ(renamed.held_out.probabilities(i, static_cast<std::size_t>(other_names()[c])),
                    fitted.held_out.probabilities(i, c));
        }
      }
    }
  }
}

// Each class in the order of the names, with what was learnt of it.
TEST(FitModel, ClassesStandInTheOrderOfTheirNames) {
  Recipe recipe = recipe_named("default");
  set_epochs(recipe, 5);
  set_virtual_count(recipe, 4);
  const ModelFit fitted = fit_model(labelled_as(other_names(), false), recipe, {});
  const auto predictions = Predictor(fitted.model, {.false_reject = 0.0}).predict(fitted.model.support.features.view());
  std::size_t right = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (predictions[i].top[0].index == fitted.model.support.labels[i]) ++right;
  }
  EXPECT_NEAR(static_cast<double>(right) / static_cast<double>(predictions.size()), fitted.fit.training_accuracy, 0.03);
  EXPECT_GT(fitted.fit.training_accuracy, 0.9);
}

}  // namespace
}  // namespace annulus
