// A score as text, and as tables to read elsewhere.
#pragma once

#include <string>

#include "annulus/eval/score/score_report.h"

namespace annulus {

// "62.0 of 100 right (58.1 to 65.7; chance 0.5)".
std::string accuracy_line(const ScoreReport& report);
// What rejection does at the report's rate, as a sentence without its end; empty where nothing can be said.
std::string rejection_line(const ScoreReport& report);
// How often the class or group that is named is right, and each level of groups; without its end.
std::string groups_line(const GroupScore& groups);
// A short summary for people, the accuracy first.
std::string score_text(const ScoreReport& report);

// CSV, with a header each. Numbers have the fewest digits that give them back; truth values are 0 and 1.
// One line per example that was scored: path (or row), label, known, predicted, correct, probability, unknown_score,
// rejected. The last two columns are absent where the model cannot reject.
std::string predictions_csv(const ScoreReport& report);
// One line per pair of a label and a predicted class that occurs: label, known, predicted, examples.
std::string confusion_csv(const ScoreReport& report);
// One line per class of the model: class, examples, correct, recall, recall_low, recall_high, predicted, precision.
std::string classes_csv(const ScoreReport& report);

}  // namespace annulus
