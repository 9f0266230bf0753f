// Weights of open-set features: even where little is known, by the rows where much is, never against the open-set
// features.
#include "annulus/learn/openset/open_set_features.h"

#include <gtest/gtest.h>

#include <array>

#include "annulus/base/random.h"
#include "annulus/learn/openset/open_set_scores.h"

namespace annulus {
namespace {

// Known and unknown rows whose open-set features of one kind differs by `gap` spreads, that of the others by nothing.
OpenSetFold fold_of(std::size_t rows, OpenSetFeature kind, double gap, std::uint32_t stream_number) {
  const RandomStream stream{3, RandomUse::kSynthetic, stream_number};
  OpenSetFold fold;
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    OpenSetFeatures known{};
    OpenSetFeatures unknown{};
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j) {
      known[j] = stream.uniform(index++);
      unknown[j] = stream.uniform(index++) - (j == kind ? gap : 0.0);
    }
    fold.known.push_back(known);
    fold.unknown.push_back(unknown);
  }
  return fold;
}

TEST(OpenSetFeatures, WithLittleToLearnFromThePriorDecides) {
  const OpenSetFeatures prior = prior_weights(20);
  EXPECT_EQ(learn_open_set_weights({}, 20), prior);
  const std::vector<OpenSetFold> few = {fold_of(6, kLead, 0.3, 0)};
  const OpenSetFeatures weights = learn_open_set_weights(few, 20);
  for (std::size_t j = 0; j < kOpenSetFeatures; ++j) EXPECT_NEAR(weights[j], prior[j], 0.05);
}

TEST(OpenSetFeatures, ThePriorTrustsDistancesAmongFewClassesAndProbabilitiesAmongMany) {
  const OpenSetFeatures few = prior_weights(5);
  const OpenSetFeatures many = prior_weights(5000);
  EXPECT_LT(few[kLogConfidence], 0.01);
  EXPECT_GT(few[kRowCosine] + few[kRowCloseness] + few[kCloseness], 0.49);
  EXPECT_GT(many[kLogConfidence], many[kRowCosine] + many[kRowCloseness] + many[kCloseness]);
  for (const OpenSetFeatures& prior : {few, many}) {
    for (const double weight : prior) EXPECT_GE(weight, 0.0);
  }
}

TEST(OpenSetFeatures, OnlyInformativeFeaturesGetWeight) {
  for (const OpenSetFeature kind : {kLogConfidence, kLead, kRowCosine, kRowCloseness, kCloseness}) {
    const std::vector<OpenSetFold> folds = {fold_of(600, kind, 0.5, 1), fold_of(600, kind, 0.5, 2)};
    const OpenSetFeatures weights = learn_open_set_weights(folds, 20);
    for (std::size_t j = 0; j < kOpenSetFeatures; ++j) {
      if (j == kind) {
        EXPECT_GT(weights[j], 0.6);
      } else {
        EXPECT_LT(weights[j], 0.15);
      }
    }
  }
}

TEST(OpenSetFeatures, WeightsAreNeverNegative) {
  const std::vector<OpenSetFold> folds = {fold_of(800, kRowCosine, -0.6, 3)};
  const OpenSetFeatures weights = learn_open_set_weights(folds, 20);
  EXPECT_EQ(weights[kRowCosine], 0.0);
}

// Heads of different folds have logits of different sizes: what is compared is within a fold.
TEST(OpenSetFeatures, AFoldMayBeShiftedAsAWhole) {
  std::vector<OpenSetFold> folds = {fold_of(300, kLead, 0.5, 4), fold_of(300, kLead, 0.5, 5)};
  const OpenSetFeatures before = learn_open_set_weights(folds, 20);
  for (auto* rows : {&folds[1].known, &folds[1].unknown}) {
    for (OpenSetFeatures& row : *rows) row[kLead] += 100.0;
  }
  const OpenSetFeatures after = learn_open_set_weights(folds, 20);
  for (std::size_t j = 0; j < kOpenSetFeatures; ++j) EXPECT_NEAR(after[j], before[j], 1e-6);
}

TEST(OpenSetFeatures, WeightsOfOpenSetFeaturesMakeTheSameScoreFromParts) {
  const std::array<float, kUnknownParts> parts = {3.0F, 1.0F, 3.5F, 0.75F, 0.5F, 0.625F};
  const OpenSetFeatures open_set_features = open_set_features_in(parts);
  EXPECT_DOUBLE_EQ(open_set_features[kLogConfidence], -0.5);
  EXPECT_DOUBLE_EQ(open_set_features[kLead], 3.0);
  const OpenSetFeatures weights = {2.0, 0.5, 4.0, 16.0, 8.0};
  double expected = 0.0;
  for (std::size_t j = 0; j < kOpenSetFeatures; ++j) expected += weights[j] * open_set_features[j];
  double found = 0.0;
  for (std::size_t j = 0; j < kUnknownParts; ++j) {
    found += static_cast<double>(part_weights(weights)[j]) * static_cast<double>(parts[j]);
  }
  EXPECT_NEAR(found, expected, 1e-6);
}

TEST(OpenSetFeatures, ARuleFromUnknownInputsCountsConfidenceWhereClassesAreMany) {
  std::vector<OpenSetFold> folds = {fold_of(40, kLead, 0.0, 7), fold_of(40, kLead, 0.0, 8)};
  for (OpenSetFold& fold : folds) fold.known.clear();
  const UnknownRule few = rule_from_unknown(folds, 3);
  const UnknownRule many = rule_from_unknown(folds, 3000);
  ASSERT_EQ(few.quantiles.size(), kUnknownQuantiles);
  EXPECT_LT(-few.weights[kLogSumExp], 0.05F * few.weights[kClassCloseness]);
  EXPECT_GT(-many.weights[kLogSumExp], 1.5F * many.weights[kClassCloseness]);
  // Of the unknown inputs themselves a threshold rejects its share.
  std::size_t rejected = 0;
  for (const OpenSetFold& fold : folds) {
    for (const OpenSetFeatures& row : fold.unknown) {
      const std::array<float, kUnknownParts> parts = {static_cast<float>(row[kLead]),
                                                      0.0F,
                                                      static_cast<float>(row[kLead] - row[kLogConfidence]),
                                                      static_cast<float>(row[kRowCosine]),
                                                      static_cast<float>(row[kCloseness]),
                                                      static_cast<float>(row[kRowCloseness])};
      if (unknown_score(many, parts) < unknown_threshold(many, 0.25)) ++rejected;
    }
  }
  EXPECT_NEAR(static_cast<double>(rejected), 20.0, 1.0);
  EXPECT_NEAR(unknown_catch_rate(many, 0.25).value_or(0.0), 0.25, 1e-6);
  folds.resize(1);
  folds[0].unknown.resize(kLeastUnknown - 1);
  EXPECT_TRUE(rule_from_unknown(folds, 3).empty());
}

}  // namespace
}  // namespace annulus
