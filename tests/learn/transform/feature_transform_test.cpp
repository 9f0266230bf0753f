// FeatureTransform: what is learned from rows, what is done to them, and heads that do it by themselves.
#include "annulus/learn/transform/feature_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

Matrix<float> rows_of(const std::vector<std::vector<float>>& rows) {
  Matrix<float> result(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) std::copy(rows[i].begin(), rows[i].end(), result.row(i).begin());
  return result;
}

TEST(FeatureTransform, NamesReadBack) {
  for (const TransformKind kind : {TransformKind::kNone, TransformKind::kCentre, TransformKind::kAuto}) {
    EXPECT_EQ(transform_kind_from(to_string(kind)), kind);
  }
  EXPECT_THROW(transform_kind_from("whiten"), Error);
}

TEST(FeatureTransform, APowerTransformIsChosenOnlyForNonNegativeFeatures) {
  const Matrix<float> even = rows_of({{9.0F, 16.0F, 1.0F}, {0.0F, 4.0F, 2.0F}});
  EXPECT_FLOAT_EQ(learn_transform(even.view(), TransformKind::kAuto).power, 0.8F);
  EXPECT_FALSE(learn_transform(even.view(), TransformKind::kNone).any());
  // One large number among many small ones: the fourth moment outweighs the square of the second.
  const Matrix<float> heavy = rows_of({{90.0F, 1.0F, 2.0F, 0.0F, 1.0F, 2.0F, 0.0F, 1.0F, 0.0F, 1.0F, 2.0F, 0.0F}});
  EXPECT_FLOAT_EQ(learn_transform(heavy.view(), TransformKind::kAuto).power, 0.6F);
  EXPECT_FLOAT_EQ(learn_transform(heavy.view(), TransformKind::kCentre).power, 1.0F);
  const Matrix<float> mixed = rows_of({{90.0F, -1.0F, 2.0F, 0.0F, 1.0F, 2.0F, 0.0F, 1.0F, 0.0F, 1.0F, 2.0F, 0.0F}});
  EXPECT_FALSE(learn_transform(mixed.view(), TransformKind::kAuto).any());
}

TEST(FeatureTransform, ThePowerTransformKeepsSigns) {
  Matrix<float> rows = rows_of({{9.0F, -16.0F, 0.0F}});
  transform_rows({0.5F, {}, {}}, rows.view());
  EXPECT_FLOAT_EQ(rows(0, 0), 3.0F);
  EXPECT_FLOAT_EQ(rows(0, 1), -4.0F);
  EXPECT_EQ(rows(0, 2), 0.0F);
}

TEST(FeatureTransform, SubtractsTheMeanOfUnitRows) {
  Matrix<float> rows = rows_of({{3.0F, 4.0F}, {0.0F, 2.0F}});
  const FeatureTransform learned = learn_transform(rows.view(), TransformKind::kCentre);
  ASSERT_EQ(learned.centre.size(), 2U);
  EXPECT_FLOAT_EQ(learned.centre[0], 0.3F);
  EXPECT_FLOAT_EQ(learned.centre[1], 0.9F);
  transform_rows(learned, rows.view());
  EXPECT_NEAR(rows(0, 0), 0.3F, 1e-6F);
  EXPECT_NEAR(rows(0, 1), -0.1F, 1e-6F);
}

TEST(FeatureTransform, ARowAtTheCentreKeepsItsDirection) {
  Matrix<float> rows = rows_of({{3.0F, 4.0F}, {6.0F, 8.0F}});
  const FeatureTransform learned = learn_transform(rows.view(), TransformKind::kCentre);
  transform_rows(learned, rows.view());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(rows(i, 0), 0.6F, 1e-6F);
    EXPECT_NEAR(rows(i, 1), 0.8F, 1e-6F);
  }
}

TEST(FeatureTransform, AHeadTransformsItsInputs) {
  // Two classes around a large common part.
  LabelledExamples rows{Matrix<float>(8, 4), {}, 2};
  for (std::size_t i = 0; i < 8; ++i) {
    const std::int32_t label = i < 4 ? 0 : 1;
    rows.labels.push_back(label);
    rows.features(i, 0) = 50.0F + static_cast<float>(i % 4);
    rows.features(i, 1) = 40.0F;
    rows.features(i, 2) = label == 0 ? 30.0F : 10.0F;
    rows.features(i, 3) = label == 0 ? 10.0F : 30.0F;
  }
  Recipe recipe = recipe_named("ibm2");
  set_epochs(recipe, 30);
  recipe.epsilon = 0.1;
  recipe.transform = TransformKind::kAuto;
  const FitResult fit = fit_head(rows, recipe);
  EXPECT_FLOAT_EQ(fit.head.transform.power, 0.8F);
  EXPECT_EQ(predict_classes(fit.head, rows.features.view(), 1), rows.labels);
  EXPECT_EQ(describe(recipe).at("transform"), "auto");

  // The same as a head without transform on rows that were transformed before.
  Matrix<float> transformed = rows.features.clone();
  transform_rows(fit.head.transform, transformed.view());
  Head<float> bare = fit.head.clone();
  bare.transform = {};
  Matrix<float> asked(8, 2);
  Matrix<float> expected(8, 2);
  predict_probabilities(fit.head, 1.0, rows.features.view(), asked.view(), 1);
  predict_probabilities(bare, 1.0, std::as_const(transformed).view(), expected.view(), 1);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(asked(i, 0), expected(i, 0));
}

}  // namespace
}  // namespace annulus
