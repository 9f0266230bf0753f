// Conditioning: what is learned from rows, what is done to them, and heads that do it by themselves.
#include "annulus/learn/conditioning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/recipe.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

Matrix<float> rows_of(const std::vector<std::vector<float>>& rows) {
  Matrix<float> result(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) std::copy(rows[i].begin(), rows[i].end(), result.row(i).begin());
  return result;
}

TEST(Conditioning, NamesReadBack) {
  for (const ConditioningKind kind : {ConditioningKind::kNone, ConditioningKind::kCentre, ConditioningKind::kAuto}) {
    EXPECT_EQ(conditioning_kind_from(to_string(kind)), kind);
  }
  EXPECT_THROW(conditioning_kind_from("whiten"), Error);
}

TEST(Conditioning, APowerIsChosenOnlyWhereNoNumberIsNegative) {
  const Matrix<float> even = rows_of({{9.0F, 16.0F, 1.0F}, {0.0F, 4.0F, 2.0F}});
  EXPECT_FLOAT_EQ(learn_conditioning(even.view(), ConditioningKind::kAuto).power, 0.8F);
  EXPECT_FALSE(learn_conditioning(even.view(), ConditioningKind::kNone).any());
  // One large number among many small ones: the fourth moment outweighs the square of the second.
  const Matrix<float> heavy = rows_of({{90.0F, 1.0F, 2.0F, 0.0F, 1.0F, 2.0F, 0.0F, 1.0F, 0.0F, 1.0F, 2.0F, 0.0F}});
  EXPECT_FLOAT_EQ(learn_conditioning(heavy.view(), ConditioningKind::kAuto).power, 0.6F);
  EXPECT_FLOAT_EQ(learn_conditioning(heavy.view(), ConditioningKind::kCentre).power, 1.0F);
  const Matrix<float> mixed = rows_of({{90.0F, -1.0F, 2.0F, 0.0F, 1.0F, 2.0F, 0.0F, 1.0F, 0.0F, 1.0F, 2.0F, 0.0F}});
  EXPECT_FALSE(learn_conditioning(mixed.view(), ConditioningKind::kAuto).any());
}

TEST(Conditioning, RaisesNumbersAndKeepsTheirSign) {
  Matrix<float> rows = rows_of({{9.0F, -16.0F, 0.0F}});
  condition_rows({0.5F, {}}, rows.view());
  EXPECT_FLOAT_EQ(rows(0, 0), 3.0F);
  EXPECT_FLOAT_EQ(rows(0, 1), -4.0F);
  EXPECT_EQ(rows(0, 2), 0.0F);
}

TEST(Conditioning, SubtractsTheMeanOfUnitRows) {
  Matrix<float> rows = rows_of({{3.0F, 4.0F}, {0.0F, 2.0F}});
  const Conditioning learned = learn_conditioning(rows.view(), ConditioningKind::kCentre);
  ASSERT_EQ(learned.centre.size(), 2U);
  EXPECT_FLOAT_EQ(learned.centre[0], 0.3F);
  EXPECT_FLOAT_EQ(learned.centre[1], 0.9F);
  condition_rows(learned, rows.view());
  EXPECT_NEAR(rows(0, 0), 0.3F, 1e-6F);
  EXPECT_NEAR(rows(0, 1), -0.1F, 1e-6F);
}

TEST(Conditioning, ARowAtTheCentreKeepsItsDirection) {
  Matrix<float> rows = rows_of({{3.0F, 4.0F}, {6.0F, 8.0F}});
  const Conditioning learned = learn_conditioning(rows.view(), ConditioningKind::kCentre);
  condition_rows(learned, rows.view());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(rows(i, 0), 0.6F, 1e-6F);
    EXPECT_NEAR(rows(i, 1), 0.8F, 1e-6F);
  }
}

TEST(Conditioning, AHeadConditionsWhatItIsAskedAbout) {
  // Two classes around a large common part.
  LabelledRows rows{Matrix<float>(8, 4), {}, 2};
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
  recipe.conditioning = ConditioningKind::kAuto;
  const FitResult fit = fit_ibm2(rows, recipe);
  EXPECT_FLOAT_EQ(fit.head.conditioning.power, 0.8F);
  EXPECT_EQ(predict_classes(fit.head, rows.features.view(), 1), rows.labels);
  EXPECT_EQ(describe(recipe).at("conditioning"), "auto");

  // The same as a head without conditioning on rows that were conditioned before.
  Matrix<float> conditioned = rows.features.clone();
  condition_rows(fit.head.conditioning, conditioned.view());
  Head<float> bare = fit.head.clone();
  bare.conditioning = {};
  Matrix<float> asked(8, 2);
  Matrix<float> expected(8, 2);
  predict_probabilities(fit.head, 1.0, rows.features.view(), asked.view(), 1);
  predict_probabilities(bare, 1.0, std::as_const(conditioned).view(), expected.view(), 1);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(asked(i, 0), expected(i, 0));
}

}  // namespace
}  // namespace annulus
