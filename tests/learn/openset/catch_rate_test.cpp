// The estimated catch rate follows from scores of hidden classes and from folds, whichever says less.
#include "annulus/learn/openset/catch_rate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace annulus {
namespace {

constexpr OpenSetFeatures kOnlyLead = {0.0, 1.0, 0.0, 0.0, 0.0};

// A hundred known scores 0 to 99 and as many unknown ones `lower`, all shifted as a whole.
OpenSetFold fold_of_scores(double lower, double shift) {
  OpenSetFold fold;
  for (std::size_t i = 0; i < 100; ++i) {
    OpenSetFeatures row{};
    row[kLead] = static_cast<double>(i) + shift;
    fold.known.push_back(row);
    row[kLead] -= lower;
    fold.unknown.push_back(row);
  }
  return fold;
}

std::vector<float> scores_from(float first) {
  std::vector<float> scores;
  for (std::size_t i = 0; i < 100; ++i) scores.push_back(first + static_cast<float>(i));
  return scores;
}

UnknownRule rule_of_scores() {
  UnknownRule rule;
  rule.quantiles = quantiles_of(scores_from(0.0F));
  return rule;
}

TEST(CatchRate, IsTheSmallerOfTwoEstimates) {
  const UnknownRule rule = rule_of_scores();
  // Of hidden classes 30 % more are below a threshold than of known ones, of the folds 20 % more on average.
  const std::vector<OpenSetFold> folds = {fold_of_scores(10.0, 0.0), fold_of_scores(30.0, 500.0)};
  const std::vector<float> caught = catch_rates(rule, scores_from(-30.0F), folds, kOnlyLead);
  ASSERT_EQ(caught.size(), kUnknownQuantiles);
  EXPECT_NEAR(caught[5], 0.25, 0.011);
  EXPECT_NEAR(caught[50], 0.7, 0.011);
  EXPECT_FLOAT_EQ(caught.back(), 1.0F);
  EXPECT_TRUE(std::is_sorted(caught.begin(), caught.end()));
  EXPECT_NEAR(catch_rates(rule, scores_from(-10.0F), folds, kOnlyLead)[5], 0.15, 0.011);
}

TEST(CatchRate, IsNotKnownWithoutFoldsOrHiddenScores) {
  const UnknownRule rule = rule_of_scores();
  EXPECT_TRUE(catch_rates(rule, scores_from(0.0F), {}, kOnlyLead).empty());
  std::vector<OpenSetFold> folds = {fold_of_scores(10.0, 0.0)};
  EXPECT_TRUE(catch_rates(rule, {}, folds, kOnlyLead).empty());
  folds[0].known.resize(1);
  EXPECT_TRUE(catch_rates(rule, scores_from(0.0F), folds, kOnlyLead).empty());
}

}  // namespace
}  // namespace annulus
