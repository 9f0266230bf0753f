// A head trained in a metric, mapped back, ranks classes as it did in the metric.
#include "annulus/learn/method/metric_space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/prepared_head.h"

namespace annulus {
namespace {

LabelledExamples some_examples(std::size_t classes, std::size_t shots, std::size_t dimension) {
  const RandomStream stream{5, RandomUse::kSynthetic, 9};
  LabelledExamples rows{Matrix<float>(classes * shots, dimension), {}, classes};
  for (std::size_t i = 0; i < classes * shots; ++i) {
    const std::size_t c = i / shots;
    rows.labels.push_back(static_cast<std::int32_t>(c));
    for (std::size_t j = 0; j < dimension; ++j) {
      const double centre = std::sin(static_cast<double>(5 * c + j));
      const double spread = j < 2 ? 4.0 : 0.8;
      rows.features(i, j) = static_cast<float>(centre + spread * (stream.uniform(i * dimension + j) - 0.5));
    }
  }
  return rows;
}

LabelledExamples copy_of(const LabelledExamples& rows) {
  return {rows.features.clone(), rows.labels, rows.classes, rows.weights};
}

Head<float> linear_head(std::size_t classes, std::size_t dimension) {
  const RandomStream stream{6, RandomUse::kSynthetic, 9};
  Head<float> head{HeadKind::kLinear, Matrix<float>(classes, dimension), {}, std::vector<float>(classes, 0.0F)};
  for (std::size_t i = 0; i < classes * dimension; ++i) {
    head.direction.data()[i] = static_cast<float>(stream.uniform(i) - 0.5);
  }
  return head;
}

TEST(MetricSpace, TheTransformMapsRawRowsAsTheFitDid) {
  const LabelledExamples rows = some_examples(8, 4, 12);
  LabelledExamples inside = copy_of(rows);
  const MetricSpace space = enter_metric_space(inside, {}, {true, std::nullopt, nullptr}, 2);
  ASSERT_TRUE(space.any());
  Matrix<float> raw = rows.features.clone();
  transform_rows(space.transform, raw.view());
  for (std::size_t i = 0; i < raw.rows(); ++i) {
    for (std::size_t j = 0; j < raw.cols(); ++j) EXPECT_NEAR(raw(i, j), inside.features(i, j), 1e-4F);
  }
  EXPECT_NEAR(mean_inverse_length(raw.view(), {}, raw.rows()), space.mean_inverse_length, 1e-3);
}

TEST(MetricSpace, AHeadThatLeavesItRanksClassesAsBefore) {
  const LabelledExamples rows = some_examples(8, 4, 12);
  LabelledExamples inside = copy_of(rows);
  const MetricSpace space = enter_metric_space(inside, {}, {true, 0.5, nullptr}, 2);
  const Head<float> head = linear_head(8, 12);
  Head<float> through = head.clone();
  through.transform = space.transform;
  const Head<float> folded = leave_metric_space(head, space.transform, space.mean_inverse_length, 2);
  EXPECT_TRUE(folded.transform.metrics.empty());
  EXPECT_EQ(predict_classes(folded, rows.features.view(), 1), predict_classes(through, rows.features.view(), 1));
  // A row whose length in the space is the mean has the same scores.
  Matrix<float> in_space = rows.features.clone();
  transform_rows(space.transform, in_space.view());
  Matrix<float> scores(rows.features.rows(), 8);
  Matrix<float> folded_scores(rows.features.rows(), 8);
  predict_logits(through, rows.features.view(), scores.view(), 1);
  predict_logits(folded, rows.features.view(), folded_scores.view(), 1);
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    const float relative =
        std::sqrt(squared_length(std::as_const(in_space).row(i))) * static_cast<float>(space.mean_inverse_length);
    for (std::size_t c = 0; c < 8; ++c) EXPECT_NEAR(folded_scores(i, c), relative * scores(i, c), 2e-3F);
  }
}

TEST(MetricSpace, APriorComesFirstAndWorksWithOneShot) {
  LabelledExamples several = some_examples(8, 4, 12);
  const MetricSpace learnt = enter_metric_space(several, {}, {true, 0.5, nullptr}, 1);
  const auto prior = std::make_shared<const MetricPrior>(MetricPrior{learnt.transform.metrics.front(), 1.0F, {}});
  LabelledExamples one_shot = some_examples(8, 1, 12);
  const MetricSpace space = enter_metric_space(one_shot, {}, {true, std::nullopt, prior}, 1);
  ASSERT_EQ(space.transform.metrics.size(), 1U);
  EXPECT_EQ(space.transform.metrics.front(), prior->metric);
  // A strength that is given is not judged, and neither is the prior.
  LabelledExamples more = some_examples(8, 4, 12);
  EXPECT_EQ(enter_metric_space(more, {}, {true, 1.0, prior}, 1).transform.metrics.size(), 2U);
}

TEST(MetricSpace, WithoutAMetricRowsStayAsTheyAre) {
  const LabelledExamples rows = some_examples(8, 1, 12);
  for (const MetricOptions& options : {MetricOptions{}, MetricOptions{true, std::nullopt, nullptr}}) {
    LabelledExamples same = copy_of(rows);
    EXPECT_FALSE(enter_metric_space(same, {}, options, 1).any());
    EXPECT_EQ(std::memcmp(same.features.data(), rows.features.data(), 8 * 12 * sizeof(float)), 0);
  }
}

TEST(MetricSpace, ARowOfZerosIsRejectedByItsNumber) {
  LabelledExamples rows = some_examples(4, 2, 6);
  for (float& value : rows.features.row(5)) value = 0.0F;
  try {
    enter_metric_space(rows, {}, {true, std::nullopt, nullptr}, 2);
    FAIL() << "a row without a length was mapped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("row 5"), std::string::npos) << error.what();
  }
}

TEST(MetricSpace, TheDefaultRecipeTrainsInItAndKeepsTheTrainedHead) {
  const LabelledExamples rows = some_examples(8, 4, 12);
  Recipe recipe = recipe_named("default");
  set_threads(recipe, 2);
  const FitResult fit = fit_head(rows, recipe);
  ASSERT_TRUE(fit.trained.has_value());
  EXPECT_EQ(fit.trained->transform.metrics.size(), 1U);
  EXPECT_EQ(fit.head.kind, HeadKind::kLinear);
  EXPECT_TRUE(fit.head.transform.metrics.empty());
  EXPECT_EQ(fit.metric.examples, 32U);
  EXPECT_EQ(fit.ensemble, recipe.metric_ensemble);
}

TEST(MetricSpace, PredictionsAreThoseOfTheTrainingWhateverTheTransform) {
  for (const std::size_t shots : {std::size_t{1}, std::size_t{4}}) {
    const LabelledExamples rows = some_examples(8, shots, 12);
    for (const TransformKind kind : {TransformKind::kNone, TransformKind::kCentre, TransformKind::kAuto}) {
      Recipe recipe = recipe_named("default");
      recipe.transform = kind;
      recipe.epsilon = 0.5;
      const FitResult fit = fit_head(rows, recipe);
      const std::vector<std::int32_t> predicted = predict_classes(fit.head, rows.features.view(), 1);
      double right = 0.0;
      for (std::size_t i = 0; i < predicted.size(); ++i) right += predicted[i] == rows.labels[i] ? 1.0 : 0.0;
      EXPECT_NEAR(right / static_cast<double>(predicted.size()), fit.training_accuracy, 0.07)
          << to_string(kind) << ' ' << shots;
      EXPECT_GT(fit.training_accuracy, 0.9);
    }
  }
}

}  // namespace
}  // namespace annulus
