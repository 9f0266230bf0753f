// Weights of evidence: even where little is known, by the rows where much is, never against the evidence.
#include "annulus/learn/evidence.h"

#include <gtest/gtest.h>

#include <array>

#include "annulus/base/random.h"
#include "annulus/learn/unknown.h"

namespace annulus {
namespace {

// Known and strange rows whose evidence of one kind differs by `gap` spreads, that of the others by nothing.
EvidenceTurn turn_of(std::size_t rows, EvidenceKind kind, double gap, std::uint32_t stream_number) {
  const RandomStream stream{3, RandomUse::kSynthetic, stream_number};
  EvidenceTurn turn;
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    Evidence known{};
    Evidence strange{};
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) {
      known[j] = stream.uniform(index++);
      strange[j] = stream.uniform(index++) - (j == kind ? gap : 0.0);
    }
    turn.known.push_back(known);
    turn.strange.push_back(strange);
  }
  return turn;
}

TEST(Evidence, WithLittleToLearnFromThePriorDecides) {
  const Evidence prior = prior_weights(20);
  EXPECT_EQ(learn_evidence_weights({}, 20), prior);
  const std::vector<EvidenceTurn> few = {turn_of(6, kLead, 0.3, 0)};
  const Evidence weights = learn_evidence_weights(few, 20);
  for (std::size_t j = 0; j < kEvidenceKinds; ++j) EXPECT_NEAR(weights[j], prior[j], 0.05);
}

TEST(Evidence, ThePriorTrustsDistancesAmongFewClassesAndProbabilitiesAmongMany) {
  const Evidence few = prior_weights(5);
  const Evidence many = prior_weights(5000);
  EXPECT_LT(few[kLogConfidence], 0.01);
  EXPECT_GT(few[kRowCosine] + few[kRowCloseness] + few[kCloseness], 0.49);
  EXPECT_GT(many[kLogConfidence], many[kRowCosine] + many[kRowCloseness] + many[kCloseness]);
  for (const Evidence& prior : {few, many}) {
    for (const double weight : prior) EXPECT_GE(weight, 0.0);
  }
}

TEST(Evidence, WhatTellsStrangersCountsAndTheRestDoesNot) {
  for (const EvidenceKind kind : {kLogConfidence, kLead, kRowCosine, kRowCloseness, kCloseness}) {
    const std::vector<EvidenceTurn> turns = {turn_of(600, kind, 0.5, 1), turn_of(600, kind, 0.5, 2)};
    const Evidence weights = learn_evidence_weights(turns, 20);
    for (std::size_t j = 0; j < kEvidenceKinds; ++j) {
      if (j == kind) {
        EXPECT_GT(weights[j], 0.6);
      } else {
        EXPECT_LT(weights[j], 0.15);
      }
    }
  }
}

TEST(Evidence, NothingCountsAgainstAThingForSpeakingForIt) {
  const std::vector<EvidenceTurn> turns = {turn_of(800, kRowCosine, -0.6, 3)};
  const Evidence weights = learn_evidence_weights(turns, 20);
  EXPECT_EQ(weights[kRowCosine], 0.0);
}

// Heads of different turns have logits of different sizes: what is compared is within a turn.
TEST(Evidence, ATurnAsAWholeMayLieAnywhere) {
  std::vector<EvidenceTurn> turns = {turn_of(300, kLead, 0.5, 4), turn_of(300, kLead, 0.5, 5)};
  const Evidence before = learn_evidence_weights(turns, 20);
  for (auto* rows : {&turns[1].known, &turns[1].strange}) {
    for (Evidence& row : *rows) row[kLead] += 100.0;
  }
  const Evidence after = learn_evidence_weights(turns, 20);
  for (std::size_t j = 0; j < kEvidenceKinds; ++j) EXPECT_NEAR(after[j], before[j], 1e-6);
}

TEST(Evidence, WeightsOfEvidenceMakeTheSameScoreFromParts) {
  const std::array<float, kUnknownParts> parts = {3.0F, 1.0F, 3.5F, 0.75F, 0.5F, 0.625F};
  const Evidence evidence = evidence_in(parts);
  EXPECT_DOUBLE_EQ(evidence[kLogConfidence], -0.5);
  EXPECT_DOUBLE_EQ(evidence[kLead], 3.0);
  const Evidence weights = {2.0, 0.5, 4.0, 16.0, 8.0};
  double expected = 0.0;
  for (std::size_t j = 0; j < kEvidenceKinds; ++j) expected += weights[j] * evidence[j];
  double found = 0.0;
  for (std::size_t j = 0; j < kUnknownParts; ++j) {
    found += static_cast<double>(part_weights(weights)[j]) * static_cast<double>(parts[j]);
  }
  EXPECT_NEAR(found, expected, 1e-6);
}

TEST(Evidence, ARuleFromStrangersCountsConfidenceWhereClassesAreMany) {
  std::vector<EvidenceTurn> turns = {turn_of(40, kLead, 0.0, 7), turn_of(40, kLead, 0.0, 8)};
  for (EvidenceTurn& turn : turns) turn.known.clear();
  const UnknownRule few = rule_from_strangers(turns, 3);
  const UnknownRule many = rule_from_strangers(turns, 3000);
  ASSERT_EQ(few.quantiles.size(), kUnknownQuantiles);
  EXPECT_LT(-few.weights[kLogSumExp], 0.05F * few.weights[kClassCloseness]);
  EXPECT_GT(-many.weights[kLogSumExp], 1.5F * many.weights[kClassCloseness]);
  // Of the strangers themselves a threshold refuses its share.
  std::size_t refused = 0;
  for (const EvidenceTurn& turn : turns) {
    for (const Evidence& row : turn.strange) {
      const std::array<float, kUnknownParts> parts = {static_cast<float>(row[kLead]),
                                                      0.0F,
                                                      static_cast<float>(row[kLead] - row[kLogConfidence]),
                                                      static_cast<float>(row[kRowCosine]),
                                                      static_cast<float>(row[kCloseness]),
                                                      static_cast<float>(row[kRowCloseness])};
      if (unknown_score(many, parts) < unknown_threshold(many, 0.25)) ++refused;
    }
  }
  EXPECT_NEAR(static_cast<double>(refused), 20.0, 1.0);
  turns.resize(1);
  turns[0].strange.resize(kLeastStrangers - 1);
  EXPECT_TRUE(rule_from_strangers(turns, 3).empty());
}

}  // namespace
}  // namespace annulus
