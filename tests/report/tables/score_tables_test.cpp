// The sentences of a score, and tables that other programs read back.
#include "annulus/report/tables/score_tables.h"

#include <gtest/gtest.h>

#include "tests/fixtures/made_score.h"

namespace annulus {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ScoreTables, TheSummaryBeginsWithTheAccuracy) {
  const std::string text = score_text(made_score());
  EXPECT_TRUE(text.starts_with("50.0 of 100 right (15.0 to 85.0; chance 33.3)\n")) << text;
  EXPECT_TRUE(has(text, "4 examples of 2 classes from photos; 3 examples left out, marked as training examples\n"));
  EXPECT_TRUE(has(text, "hardest classes: ash (1 of 2 right)")) << text;
  EXPECT_TRUE(has(text, "most often confused: ash taken for b, \"<b>\" (1)")) << text;
  EXPECT_TRUE(has(text,
                  "25.0 % of known inputs are rejected and 66.7 of 100 of the others are right; 0.0 % of 1 unknown "
                  "input are caught (expected: 40.0 %)"))
      << text;
  EXPECT_FALSE(has(text, "too high"));
}

TEST(ScoreTables, ScoredTrainingExamplesAreAWarning) {
  ScoreReport report = made_score();
  report.trained_on = 2;
  EXPECT_TRUE(has(score_text(report), "\n! 2 of the examples are among the model's training examples too"))
      << score_text(report);
}

TEST(ScoreTables, AModelThatCannotRejectIsSaidWhereItMatters) {
  ScoreReport report = made_score();
  report.may_reject = false;
  EXPECT_TRUE(has(rejection_line(report), "cannot reject unknown inputs: all 1 of"));
  report.unknown_inputs = 0;
  EXPECT_EQ(rejection_line(report), "");
}

TEST(ScoreTables, PredictionsHaveALineEach) {
  ScoreReport report = made_score();
  EXPECT_EQ(predictions_csv(report),
            "path,label,known,predicted,correct,probability,unknown_score,rejected\n"
            "a/0.jpg,ash,1,ash,1,0.75,2,0\n"
            "a/2.jpg,ash,1,\"b, \"\"<b>\"\"\",0,0.5,-1,1\n"
            "b/3.jpg,\"b, \"\"<b>\"\"\",1,\"b, \"\"<b>\"\"\",1,0.875,3,0\n"
            "b/5.jpg,\"b, \"\"<b>\"\"\",1,ash,0,0.9375,2.5,0\n"
            "e/6.jpg,elm,0,ash,0,0.25,4,0\n");
  report.may_reject = false;
  for (ScoredExample& example : report.scored) example.path.clear();
  EXPECT_TRUE(
      predictions_csv(report).starts_with("row,label,known,predicted,correct,probability\n0,ash,1,ash,1,0.75\n2,"));
}

TEST(ScoreTables, ConfusionsAndClassesAreComplete) {
  EXPECT_EQ(confusion_csv(made_score()),
            "label,known,predicted,examples\nash,1,ash,1\nash,1,\"b, \"\"<b>\"\"\",1\n"
            "\"b, \"\"<b>\"\"\",1,\"b, \"\"<b>\"\"\",1\n\"b, \"\"<b>\"\"\",1,ash,1\nelm,0,ash,1\n");
  EXPECT_EQ(classes_csv(made_score()),
            "class,examples,correct,recall,recall_low,recall_high,predicted,precision\nash,2,1,50,9.5,90.5,1,100\n"
            "\"b, \"\"<b>\"\"\",2,1,50,9.5,90.5,3,33.333333333333336\ncedar,0,0,,,,0,\n");
}

}  // namespace
}  // namespace annulus
