// Every number of a score follows from its predictions, which are those of the predictor.
#include "annulus/eval/score/score_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "annulus/learn/model/fit_model.h"
#include "annulus/task/few_shot_task.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/quick_recipe.h"
#include "tests/fixtures/small_set.h"

namespace annulus {
namespace {

// The examples of a set with other class names, and with or without marks of training examples.
FeatureSet renamed(const FeatureSet& set, std::vector<std::string> names, bool marked = true) {
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  FeatureSetParts parts = parts_of(std::move(rows));
  parts.labels.assign(set.labels().begin(), set.labels().end());
  parts.class_names = std::move(names);
  if (marked) parts.is_train.assign(set.is_train().begin(), set.is_train().end());
  parts.source = "renamed";
  return FeatureSet(std::move(parts));
}

std::vector<std::string> names_of(const FeatureSet& set) {
  return {set.class_names().begin(), set.class_names().end()};
}

class ScoreSet : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    set_ = new FeatureSet(small_set());
    const Split split = draw_split(*set_, {0, 0});
    model_ = new Model(fit_model(training_data(*set_, split.support), quick_recipe(), {}).model);
  }
  static void TearDownTestSuite() {
    delete set_;
    delete model_;
  }
  static const FeatureSet* set_;
  static const Model* model_;
};
const FeatureSet* ScoreSet::set_ = nullptr;
const Model* ScoreSet::model_ = nullptr;

TEST_F(ScoreSet, AddsUp) {
  const ScoreReport report = score_set(*model_, *set_);
  EXPECT_EQ(report.examples, 72U);
  EXPECT_EQ(report.left_out, 48U);
  EXPECT_EQ(report.trained_on, 0U);
  EXPECT_EQ(report.scored.size(), 72U);
  EXPECT_DOUBLE_EQ(report.chance, 100.0 / 12.0);
  EXPECT_DOUBLE_EQ(report.accuracy, 100.0 * static_cast<double>(report.correct) / 72.0);
  EXPECT_LT(report.interval.low, report.accuracy);
  EXPECT_GT(report.interval.high, report.accuracy);
  ASSERT_TRUE(report.top5);
  EXPECT_GE(*report.top5, report.accuracy);
  std::size_t examples = 0, predicted = 0, correct = 0, pairs = 0, binned = 0, on_diagonal = 0;
  for (const ClassScore& score : report.classes) {
    examples += score.examples;
    predicted += score.predicted;
    correct += score.correct;
  }
  for (const ScoredPair& pair : report.pairs) {
    pairs += pair.count;
    if (pair.label == pair.predicted) on_diagonal += pair.count;
  }
  for (const CalibrationPoint& point : report.calibration) binned += point.examples;
  EXPECT_EQ(examples, 72U);
  EXPECT_EQ(predicted, 72U);
  EXPECT_EQ(pairs, 72U);
  EXPECT_EQ(binned, 72U);
  EXPECT_EQ(correct, report.correct);
  EXPECT_EQ(on_diagonal, report.correct);
  ASSERT_EQ(report.worst.size(), 72 - report.correct);
  ASSERT_GT(report.worst.size(), 1U) << "the set is too easy to show an order";
  for (std::size_t i = 0; i + 1 < report.worst.size(); ++i) {
    EXPECT_FALSE(report.scored[report.worst[i]].correct);
    EXPECT_GE(report.scored[report.worst[i]].probability, report.scored[report.worst[i + 1]].probability);
  }
}

TEST_F(ScoreSet, PredictionsAreThoseOfThePredictorOnAnyNumberOfThreads) {
  const ScoreReport one = score_set(*model_, *set_, {0.2, 1});
  const ScoreReport three = score_set(*model_, *set_, {0.2, 3});
  const Predictor predictor(*model_, {0.2, false, 1, 1});
  ASSERT_TRUE(predictor.may_reject());
  Matrix<float> rows(set_->rows(), set_->dimension());
  set_->copy_rows(0, rows.view());
  const auto expected = predictor.predict(std::as_const(rows).view());
  for (std::size_t i = 0; i < one.scored.size(); ++i) {
    const Prediction& prediction = expected[one.scored[i].row];
    EXPECT_EQ(one.scored[i].predicted, prediction.top.front().index);
    EXPECT_EQ(one.scored[i].probability, prediction.probability);
    EXPECT_EQ(one.scored[i].rejected, prediction.rejected);
    EXPECT_EQ(one.scored[i].unknown_score, prediction.unknown_score);
    EXPECT_EQ(one.scored[i].probability, three.scored[i].probability);
  }
  EXPECT_EQ(one.calibration_error, three.calibration_error);
}

TEST_F(ScoreSet, OtherClassesAreUnknownInputs) {
  std::vector<std::string> names = names_of(*set_);
  names[0] = "heron";
  const ScoreReport report = score_set(*model_, renamed(*set_, names));
  EXPECT_EQ(report.examples, 66U);
  EXPECT_EQ(report.unknown_inputs, 6U);
  ASSERT_EQ(report.unknown_labels.size(), 1U);
  EXPECT_EQ(report.unknown_labels[0].name, "heron");
  EXPECT_EQ(report.unknown_labels[0].examples, 6U);
  EXPECT_FALSE(report.classes[0].recall) << "no example has this label any more";
  ASSERT_FALSE(report.curve.empty());
  EXPECT_EQ(report.curve.front().rejected, 0.0);
  EXPECT_DOUBLE_EQ(*report.curve.front().accuracy, report.accuracy);
  for (std::size_t i = 0; i + 1 < report.curve.size(); ++i) {
    EXPECT_LE(report.curve[i].rejected, report.curve[i + 1].rejected);
    EXPECT_LE(*report.curve[i].caught, *report.curve[i + 1].caught);
  }
  EXPECT_GT(report.curve.back().rejected, 0.0);
}

TEST_F(ScoreSet, TellsWhenTrainingExamplesAreScored) {
  const ScoreReport report = score_set(*model_, renamed(*set_, names_of(*set_), false));
  EXPECT_EQ(report.left_out, 0U);
  EXPECT_EQ(report.examples, 120U);
  EXPECT_EQ(report.trained_on, 48U);
}

TEST_F(ScoreSet, RejectsWhatCannotBeScored) {
  expect_error(ErrorKind::kInput, "found none of them", [] {
    score_set(*model_, renamed(*set_, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}));
  });
  expect_error(ErrorKind::kUsage, "false_reject", [] { score_set(*model_, *set_, {1.0, 1}); });
  expect_error(ErrorKind::kCancelled, "", [] { score_set(*model_, *set_, {}, [](const Progress&) { return false; }); });
}

TEST_F(ScoreSet, AModelWithoutARuleRejectsNothing) {
  Model plain;
  plain.head = model_->head.clone();
  plain.class_names = model_->class_names;
  const ScoreReport report = score_set(plain, *set_);
  EXPECT_FALSE(report.may_reject);
  EXPECT_TRUE(report.curve.empty());
  EXPECT_TRUE(std::none_of(report.scored.begin(), report.scored.end(),
                           [](const ScoredExample& example) { return example.rejected; }));
}

}  // namespace
}  // namespace annulus
