// Weights of training examples: a row of weight 2 is the row twice, one of weight 0 is none, and order does not matter.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "annulus/base/error.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/learn/calibration/calibration.h"
#include "annulus/learn/distributed/canonical_order.h"
#include "annulus/learn/ensemble/ensemble_heads.h"
#include "annulus/learn/ensemble/ridge.h"
#include "annulus/learn/ensemble/weighted_rows.h"
#include "annulus/learn/method/training_accuracy.h"
#include "annulus/learn/model/fit_model.h"
#include "annulus/store/models/model_file.h"

namespace annulus {
namespace {

// Two rows of each class and, where asked for, the first row once more at the end.
LabelledExamples labelled(std::size_t classes, std::size_t dimension, bool first_twice) {
  const std::size_t rows = 2 * classes + (first_twice ? 1 : 0);
  std::vector<float> numbers((2 * classes) * dimension);
  fill_gaussian({5, RandomUse::kSynthetic, 1}, 0, numbers);
  LabelledExamples result{Matrix<float>(rows, dimension), {}, classes};
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t from = i % (2 * classes);
    std::copy_n(numbers.data() + from * dimension, dimension, result.features.row(i).begin());
    result.labels.push_back(static_cast<std::int32_t>(from / 2));
    result.features(i, from / 2) += 3.0F;
  }
  return result;
}

std::vector<float> first_doubled(std::size_t rows) {
  std::vector<float> weights(rows, 3.0F);  // only ratios count
  weights[0] = 6.0F;
  return weights;
}

template <class T>
TrainingExamples<T> training(const LabelledExamples& rows, std::span<const float> weights) {
  Matrix<T> features(rows.features.rows(), rows.features.cols());
  std::copy_n(rows.features.data(), rows.features.rows() * rows.features.cols(), features.data());
  return make_training_examples<T>(std::move(features), rows.labels, rows.classes, NoiseShape::kSpherical, weights);
}

class FullBatch : public ::testing::TestWithParam<double> {};

TEST_P(FullBatch, AWeightOfTwoTrainsTheHeadThatTheRowTwiceDoes) {
  const LabelledExamples once = labelled(4, 6, false);
  const auto weighted = training<double>(once, first_doubled(8));
  const auto doubled = training<double>(labelled(4, 6, true), {});
  TrainOptions options;
  options.epochs = 12;
  options.batch = 16;
  options.learning_rate = 0.3;
  options.epsilon = GetParam();
  options.virtual_count = 5;
  options.sharing = NoiseSharing::kShared;
  const auto trained = [&](const TrainingExamples<double>& rows) {
    TrainHooks<double> hooks;
    hooks.order = [&](std::size_t) {
      std::vector<std::uint32_t> order(rows.rows());
      std::iota(order.begin(), order.end(), 0U);
      return order;
    };
    auto head = initial_head<double>(HeadKind::kCosine, 4, 6, 1, 2);
    const double loss = train(head, rows, options, {}, hooks).final_loss;
    return std::pair(std::move(head), loss);
  };
  const auto [one, one_loss] = trained(weighted);
  const auto [two, two_loss] = trained(doubled);
  EXPECT_NEAR(one_loss, two_loss, 1e-12);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_NEAR(one.direction.data()[i], two.direction.data()[i], 1e-9);
  EXPECT_NEAR(training_accuracy(one, weighted, options), training_accuracy(two, doubled, options), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Radii, FullBatch, ::testing::Values(0.0, 0.7));

TEST(Weights, EnsembleHeadsCountARowOfWeightTwoTwice) {
  for (const std::size_t dimension : {5UL, 40UL}) {  // fewer and more numbers than rows
    const auto weighted = training<float>(labelled(4, dimension, false), first_doubled(8));
    const auto doubled = training<float>(labelled(4, dimension, true), {});
    const auto mean = mean_row(doubled);
    const auto weighted_mean = mean_row(weighted);
    for (std::size_t j = 0; j < dimension; ++j) EXPECT_NEAR(weighted_mean[j], mean[j], 1e-6);
    const auto means = prototype_weights(doubled, mean);
    const auto weighted_means = prototype_weights(weighted, weighted_mean);
    // Weights sum to 8 and the doubled rows to 9, beside the same penalty.
    const auto ridge = ridge_weights(doubled, {.relative = 0.5 * 9.0 / 8.0}, 1);
    const auto weighted_ridge = ridge_weights(weighted, {.relative = 0.5}, 1);
    for (std::size_t i = 0; i < 4 * dimension; ++i) {
      EXPECT_NEAR(weighted_means.data()[i], means.data()[i], 1e-5);
      EXPECT_NEAR(weighted_ridge.data()[i], ridge.data()[i], 1e-5);
    }
  }
}

TEST(Weights, TheTemperatureCountsARowOfWeightTwoTwice) {
  Matrix<float> logits(3, 2);
  logits(0, 0) = 2.0F;
  logits(1, 1) = -1.0F;
  logits(2, 0) = 2.0F;
  const std::vector<std::int32_t> labels{1, 0, 1};
  const auto view = std::as_const(logits).view();
  const std::vector<float> weights{2.0F, 1.0F};
  const TemperatureSample two{view.rows_at(0, 2), std::span(labels).first(2), weights};
  const TemperatureSample three{view, labels};
  EXPECT_EQ(best_temperature({&two, 1}, 1), best_temperature({&three, 1}, 1));
}

TrainingData data_of(LabelledExamples rows) {
  TrainingData data;
  data.class_names = {"a", "b", "c", "d"};
  data.rows = std::move(rows);
  for (std::size_t i = 0; i < data.rows.labels.size(); ++i) data.paths.push_back("row " + std::to_string(i));
  return data;
}

std::string model_of(TrainingData data) {
  Recipe recipe = recipe_named("default");
  set_epochs(recipe, 5);
  recipe.epsilon = 0.5;
  return model_bytes(fit_model(std::move(data), recipe, {}).model);
}

TEST(Weights, TheOrderOfRowsDoesNotMatter) {
  TrainingData turned = data_of(labelled(4, 6, false));
  const std::string expected = model_of(data_of(labelled(4, 6, false)));
  const LabelledExamples rows = labelled(4, 6, false);
  for (std::size_t i = 0; i < 8; ++i) {
    std::copy_n(rows.features.row(7 - i).begin(), 6, turned.rows.features.row(i).begin());
    turned.rows.labels[i] = rows.labels[7 - i];
    turned.paths[i] = "row " + std::to_string(7 - i);
  }
  EXPECT_EQ(model_of(std::move(turned)), expected);
}

TEST(Weights, RowsOfWeightZeroAreAsIfTheyWereNotThere) {
  TrainingData more = data_of(labelled(4, 6, true));
  more.rows.weights.assign(9, 1.0F);
  more.rows.weights[8] = 0.0F;
  EXPECT_EQ(model_of(std::move(more)), model_of(data_of(labelled(4, 6, false))));
}

TEST(Weights, ChangeTheModelWhereTheyDiffer) {
  TrainingData data = data_of(labelled(4, 6, false));
  data.rows.weights = first_doubled(8);
  EXPECT_NE(model_of(std::move(data)), model_of(data_of(labelled(4, 6, false))));
}

TEST(Weights, ThatMakeNoSenseAreRejected) {
  for (const float bad : {-1.0F, std::nanf("")}) {
    TrainingData data = data_of(labelled(4, 6, false));
    data.rows.weights.assign(8, 1.0F);
    data.rows.weights[3] = bad;
    EXPECT_THROW(to_canonical_order(data), Error);
  }
  TrainingData data = data_of(labelled(4, 6, false));
  data.rows.weights.assign(8, 0.0F);
  EXPECT_THROW(to_canonical_order(data), Error);
  data.rows.weights.assign(7, 1.0F);
  EXPECT_THROW(to_canonical_order(data), Error);
}

}  // namespace
}  // namespace annulus
