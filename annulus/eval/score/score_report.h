// ScoreReport: how well a model does on labelled examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "annulus/eval/metrics/statistics.h"

namespace annulus {

/// One example that was scored.
struct ScoredExample {
  std::size_t row = 0;         ///< Of the set.
  std::string path{};          ///< Where it came from; may be empty.
  std::string label{};         ///< The label given.
  bool known = true;           ///< Whether the model has a class of that name.
  std::int32_t predicted = 0;  ///< The most probable class, an index into ScoreReport::classes.
  bool correct = false;        ///< Whether that is the label.
  float probability = 0.0F;    ///< Of the most probable class, from 0 to 1.
  float unknown_score = 0.0F;  ///< The larger, the better known; 0 where the model cannot reject.
  bool rejected = false;       ///< Whether it is rejected as unknown at ScoreReport::false_reject.
};

/// How well one class of the model is recognised.
struct ClassScore {
  std::string name;                   ///< As the model has it.
  std::size_t examples = 0;           ///< With this label.
  std::size_t predicted = 0;          ///< Of the model's classes, predicted to be of this one.
  std::size_t correct = 0;            ///< Both.
  std::optional<double> recall{};     ///< Percent of its examples that are right; absent without examples.
  PercentInterval recall_interval{};  ///< Of the recall; 0 to 100 without examples.
  std::optional<double> precision{};  ///< Percent of the predictions of this class that are right; absent without any.
};

/// How often examples of one label were predicted to be of one class.
struct ScoredPair {
  std::string label;      ///< The label given.
  bool known = true;      ///< Whether the model has a class of that name.
  std::string predicted;  ///< The most probable class.
  std::size_t count = 0;  ///< Examples, at least 1.
};

/// Examples whose probability lies in one fifteenth of the range 0 to 1.
struct CalibrationPoint {
  std::size_t examples = 0;  ///< At least 1.
  double confidence = 0.0;   ///< Mean probability, percent.
  double accuracy = 0.0;     ///< Fraction that is right, percent.
};

/// What happens at one false-rejection rate.
struct RejectionPoint {
  double false_reject = 0.0;                ///< The rate that the model was asked for, from 0 to 1.
  double rejected = 0.0;                    ///< Percent of the examples of known classes that are rejected.
  std::optional<double> accuracy{};         ///< Percent right of those that are not; absent if all are rejected.
  std::optional<double> caught{};           ///< Percent of the unknown inputs that are rejected; absent without any.
  std::optional<double> expected_caught{};  ///< The same as fit() estimated it; absent where it could not.
};

/// One level of the groups of classes, the largest groups first.
struct LevelScore {
  std::size_t examples = 0;        ///< Of known classes, whose prediction reaches this level.
  double accuracy = 0.0;           ///< Percent that belong to the most probable group (or class) of this level.
  double calibration_error = 0.0;  ///< Expected calibration error of its probability, percent.
};

/// What a model whose classes have groups names: a class, or a group where the class is unsure.
struct GroupScore {
  double sure = 0.0;               ///< The probability from which on a class or group is named.
  double right = 0.0;              ///< Percent of the examples that belong to what is named.
  double named_classes = 0.0;      ///< Percent for which that is a class.
  std::vector<LevelScore> levels;  ///< From the top down; the last ones are of classes.
};

/// Examples of a label that the model does not know.
struct UnknownLabel {
  std::string name;          ///< The label.
  std::size_t examples = 0;  ///< With this label.
  std::size_t rejected = 0;  ///< Of these, at ScoreReport::false_reject.
};

/// How well a model does on labelled examples. All of it is about the most probable class, whether or not the example
/// is rejected, except the parts that say otherwise. Percent are from 0 to 100.
struct ScoreReport {
  std::string source;            ///< Of the examples, for titles.
  std::size_t examples = 0;      ///< Of known classes, at least 1.
  std::size_t correct = 0;       ///< Of these.
  double accuracy = 0.0;         ///< Percent of the examples that are right.
  PercentInterval interval{};    ///< Of the accuracy, by Wilson's formula: for examples that are independent.
  double chance = 0.0;           ///< Accuracy of a guess among all classes of the model, percent.
  std::optional<double> top5{};  ///< Percent whose class is among the five most probable; absent up to five classes.
  double macro_recall = 0.0;     ///< Mean recall of the classes that have examples, percent.
  std::size_t left_out = 0;      ///< Examples that the set marks as training examples, which are not scored.
  /// Scored examples whose features are those of a training example that the model keeps: accuracy is too high then.
  std::size_t trained_on = 0;

  std::vector<ClassScore> classes;    ///< One per class of the model, in its order.
  std::vector<ScoredPair> pairs;      ///< By label, then by predicted class; together all examples.
  std::vector<ScoredExample> scored;  ///< Every example that was scored, in the order of the set.
  /// Indices into `scored` of the wrong examples of known classes, the most confidently wrong first.
  std::vector<std::size_t> worst;

  double confidence = 0.0;                    ///< Mean probability of the examples of known classes, percent.
  double calibration_error = 0.0;             ///< Expected calibration error, percent.
  std::vector<CalibrationPoint> calibration;  ///< By rising confidence.

  std::optional<GroupScore> groups{};  ///< Absent where classes have no groups.

  std::size_t unknown_inputs = 0;            ///< Examples whose label the model does not know.
  std::vector<UnknownLabel> unknown_labels;  ///< Their labels, in the order of the set's classes.
  bool may_reject = false;                   ///< Whether the model can reject unknown inputs.
  double false_reject = 0.0;                 ///< The false-rejection rate of ScoredExample::rejected.
  RejectionPoint rejection{};                ///< What happens at that rate, if the model can reject.
  std::vector<RejectionPoint> curve;         ///< The same at rates from 0 to 0.5; empty if the model cannot reject.
};

}  // namespace annulus
