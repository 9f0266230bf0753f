// Scores of known and unknown inputs by their formula.
#include "annulus/learn/openset/open_set_scores.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "annulus/base/error.h"
#include "annulus/learn/model/support_index.h"

namespace annulus {
namespace {

constexpr std::array kOfSupport = {kNearestCosine, kClassCloseness, kNearestCloseness};

// Two classes along the first two of three axes, each with two support examples.
Model two_axes() {
  Model model;
  model.head = {HeadKind::kLinear, Matrix<float>(2, 3), {}, {0.5F, -0.25F}};
  model.head.direction(0, 0) = 4.0F;
  model.head.direction(1, 1) = 3.0F;
  model.class_names = {"first", "second"};
  model.temperature = 2.0;
  model.support.features = Matrix<float>(3, 3);
  model.support.features(0, 0) = 1.0F;
  model.support.features(1, 0) = 0.6F;
  model.support.features(1, 2) = 0.8F;
  model.support.features(2, 1) = 1.0F;
  model.support.labels = {0, 0, 1};
  model.unknown.weights = {1.0F, 10.0F, 100.0F, 1000.0F, 10000.0F, 500.0F};
  model.unknown.quantiles.assign(kUnknownQuantiles, 0.0F);
  return model;
}

TEST(Unknown, ScoresFollowTheFormula) {
  const Model model = two_axes();
  Matrix<float> rows(2, 3);
  rows(0, 0) = 5.0F;  // lengths do not matter
  rows(1, 1) = 0.3F;
  rows(1, 2) = 0.4F;
  std::vector<float> scores(2);
  unknown_scores(model, rows.view(), scores, 1);
  // Row 0 is (1, 0, 0): logits 4.5 and -0.25, less their mean and halved; nearest support example 0 with cosine 1; the
  // mean of the first class points along (1.6, 0, 0.8).
  const double sum0 = std::log(std::exp(1.1875) + std::exp(-1.1875));
  EXPECT_NEAR(scores[0], 1.1875 + 10 * -1.1875 + 100 * sum0 + 1500 * 1.0 + 10000 * 2.0 / std::sqrt(5.0), 2e-2);
  // Row 1 is (0, 0.6, 0.8): logits 0.5 and 1.55, less their mean and halved; cosines 0, 0.64 and 0.6; of the mean of
  // the second class, which it is named, 0.6.
  const double sum1 = std::log(std::exp(-0.2625) + std::exp(0.2625));
  EXPECT_NEAR(scores[1], 0.2625 + 10 * -0.2625 + 100 * sum1 + 1500 * 0.6 + 10000 * 0.6, 2e-2);
}

TEST(Unknown, AxesOfTheRuleCountInTheCloseness) {
  Model model = two_axes();
  Matrix<float> row(1, 3);
  row(0, 0) = 1.0F;
  std::vector<float> without(1);
  unknown_scores(model, row.view(), without, 1);
  model.unknown.axes = {0.0F, 0.0F, 0.5F, 0.0F, 0.25F, 0.0F};
  std::vector<float> with(1);
  unknown_scores(model, row.view(), with, 1);
  // The mean of the first class, (1.6, 0, 0.8) of length 1, differs by 1 / sqrt(5) along the last axis; the nearest row
  // not at all.
  EXPECT_NEAR(with[0] - without[0], 10000.0 * 0.25 / 5.0 / 2.0, 1e-2);
  // With long axes another row is the nearest by closeness: the second, 0.8 away along the last axis.
  model.unknown.axes = {0.0F, 0.0F, 2.0F};
  unknown_scores(model, row.view(), with, 1);
  EXPECT_NEAR(with[0] - without[0], 10000.0 * 4.0 / 5.0 / 2.0 + 500.0 * (0.6 + 4.0 * 0.64 / 2.0 - 1.0), 1e-2);
}

TEST(Unknown, TheMeanOfTheLogitsDoesNotMatter) {
  const std::vector<float> logits = {3.0F, 1.0F, -0.5F};
  std::vector<float> raised;
  for (const float logit : logits) raised.push_back(logit + 7.0F);
  const auto parts = unknown_parts(logits, {0.5F, 0.375F, 0.25F});
  const auto same = unknown_parts(raised, {0.5F, 0.375F, 0.25F});
  for (std::size_t i = 0; i < kUnknownParts; ++i) EXPECT_NEAR(parts[i], same[i], 1e-5F);
  UnknownRule rule;
  rule.weights = {1.0F, 10.0F, 100.0F, 0.0F, 0.0F, 0.0F};
  const double plain = 3.0 + 10.0 + 100.0 * std::log(std::exp(3.0) + std::exp(1.0) + std::exp(-0.5));
  EXPECT_NEAR(unknown_score(rule, parts), plain + static_cast<double>(mean_weight(rule)) * 3.5 / 3.0, 1e-3);
}

TEST(Unknown, SupportIsLookedAtOnlyWhereItCounts) {
  Model model = two_axes();
  for (const UnknownPart part : kOfSupport) model.unknown.weights[part] = 0.0F;
  EXPECT_FALSE(needs_support(model.unknown));
  model.support = {};
  Matrix<float> row(1, 3);
  row(0, 0) = 1.0F;
  std::vector<float> score(1);
  unknown_scores(model, row.view(), score, 1);
  EXPECT_NEAR(score[0], 1.1875 - 11.875 + 100 * std::log(std::exp(1.1875) + std::exp(-1.1875)), 1e-2);
  for (const UnknownPart part : kOfSupport) {
    Model needy = two_axes();
    for (const UnknownPart other : kOfSupport) needy.unknown.weights[other] = other == part ? 1.0F : 0.0F;
    needy.support = {};
    EXPECT_TRUE(needs_support(needy.unknown));
    EXPECT_THROW(unknown_scores(needy, row.view(), score, 1), Error);
  }
  model.unknown.quantiles.clear();
  EXPECT_THROW(unknown_scores(model, row.view(), score, 1), Error);
}

TEST(Unknown, ScoresDoNotDependOnTheThreads) {
  const Model model = two_axes();
  Matrix<float> rows(300, 3);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < 3; ++j) rows(i, j) = static_cast<float>((i * 7 + j * 5) % 11) + 0.5F;
  }
  std::vector<float> one(300);
  std::vector<float> many(300);
  unknown_scores(model, rows.view(), one, 1);
  unknown_scores(model, rows.view(), many, 3);
  EXPECT_EQ(one, many);
}

TEST(SupportIndex, NearestComeFirstAndOneCanBePassedOver) {
  const Model model = two_axes();
  const SupportIndex index(model.head.transform, model.support);
  Matrix<float> rows(1, 3);
  rows(0, 0) = 2.0F;
  const auto all = index.nearest(rows.view(), 9, 1);
  ASSERT_EQ(all.front().size(), 3U);
  EXPECT_EQ(all.front()[0].row, 0U);
  EXPECT_NEAR(all.front()[0].cosine, 1.0F, 1e-6F);
  EXPECT_EQ(all.front()[1].row, 1U);
  EXPECT_NEAR(all.front()[1].cosine, 0.6F, 1e-6F);
  const auto without = index.nearest(rows.view(), 1, 1, {0});
  ASSERT_EQ(without.front().size(), 1U);
  EXPECT_EQ(without.front()[0].row, 1U);
}

}  // namespace
}  // namespace annulus
