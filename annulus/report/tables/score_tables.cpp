// Sentences and CSV lines of a score.
#include "annulus/report/tables/score_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "annulus/report/tables/table_formats.h"

namespace annulus {
namespace {

constexpr std::size_t kNamed = 3;  // classes and pairs that the summary names

std::string examples_text(std::size_t count) { return fmt::format("{} example{}", count, count == 1 ? "" : "s"); }

// "0.5", "20", "33.3"
std::string short_percent(double value) { return fmt::format("{:.{}f}", value, value < 1.0 ? 2 : 1); }

std::string hardest_line(const ScoreReport& report) {
  std::vector<const ClassScore*> classes;
  for (const ClassScore& score : report.classes) {
    if (score.recall && *score.recall < 100.0) classes.push_back(&score);
  }
  if (classes.empty()) return {};
  std::stable_sort(classes.begin(), classes.end(),
                   [](const ClassScore* a, const ClassScore* b) { return *a->recall < *b->recall; });
  std::string text = "hardest classes: ";
  for (std::size_t i = 0; i < std::min(kNamed, classes.size()); ++i) {
    text += fmt::format("{}{} ({} of {} right)", i == 0 ? "" : ", ", classes[i]->name, classes[i]->correct,
                        classes[i]->examples);
  }
  return text + "\n";
}

std::string confused_line(const ScoreReport& report) {
  std::vector<const ScoredPair*> pairs;
  for (const ScoredPair& pair : report.pairs) {
    if (pair.known && pair.label != pair.predicted) pairs.push_back(&pair);
  }
  if (pairs.empty()) return {};
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const ScoredPair* a, const ScoredPair* b) { return a->count > b->count; });
  std::string text = "most often confused: ";
  for (std::size_t i = 0; i < std::min(kNamed, pairs.size()); ++i) {
    text += fmt::format("{}{} taken for {} ({})", i == 0 ? "" : ", ", pairs[i]->label, pairs[i]->predicted,
                        pairs[i]->count);
  }
  return text + "\n";
}

std::string csv_percent(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string accuracy_line(const ScoreReport& report) {
  return fmt::format("{:.1f} of 100 right ({:.1f} to {:.1f}; chance {})", report.accuracy, report.interval.low,
                     report.interval.high, short_percent(report.chance));
}

std::string rejection_line(const ScoreReport& report) {
  if (!report.may_reject) {
    if (report.unknown_inputs == 0) return {};
    return fmt::format("the model cannot reject unknown inputs: all {} of classes that it does not know got a class",
                       report.unknown_inputs);
  }
  const RejectionPoint& point = report.rejection;
  std::string text = fmt::format("at a false-rejection rate of {:g} %, {:.1f} % of known inputs are rejected",
                                 100.0 * point.false_reject, point.rejected);
  if (point.accuracy) text += fmt::format(" and {:.1f} of 100 of the others are right", *point.accuracy);
  if (point.caught) {
    text += fmt::format("; {:.1f} % of {} unknown input{} are caught", *point.caught, report.unknown_inputs,
                        report.unknown_inputs == 1 ? "" : "s");
    if (point.expected_caught) text += fmt::format(" (expected: {:.1f} %)", *point.expected_caught);
  }
  return text;
}

std::string groups_line(const GroupScore& groups) {
  std::string levels;
  for (const LevelScore& level : groups.levels) {
    levels += fmt::format("{}{:.1f}", levels.empty() ? "" : ", ", level.accuracy);
  }
  return fmt::format(
      "with groups where the class is less than {:g} % sure: {:.1f} % right, a class named for {:.1f} %; by level: {} "
      "%",
      100.0 * groups.sure, groups.right, groups.named_classes, levels);
}

std::string score_text(const ScoreReport& report) {
  const auto tested = std::count_if(report.classes.begin(), report.classes.end(),
                                    [](const ClassScore& score) { return score.examples != 0; });
  std::string text = accuracy_line(report) + "\n";
  text += fmt::format("{} of {} class{} from {}", examples_text(report.examples), tested, tested == 1 ? "" : "es",
                      report.source);
  if (report.left_out != 0) {
    text += fmt::format("; {} left out, marked as training examples", examples_text(report.left_out));
  }
  text += "\n";
  if (report.trained_on != 0) {
    text += fmt::format("! {} of the examples {} the model's training examples too: the accuracy is too high\n",
                        report.trained_on, report.trained_on == 1 ? "is among" : "are among");
  }
  text += hardest_line(report) + confused_line(report);
  text += fmt::format("mean confidence {:.1f} %, calibration error {:.1f} points\n", report.confidence,
                      report.calibration_error);
  if (report.groups) text += groups_line(*report.groups) + "\n";
  const std::string rejection = rejection_line(report);
  return rejection.empty() ? text : text + rejection + "\n";
}

std::string predictions_csv(const ScoreReport& report) {
  const bool paths = !report.scored.empty() && !report.scored.front().path.empty();
  std::string text = paths ? "path" : "row";
  text += ",label,known,predicted,correct,probability";
  text += report.may_reject ? ",unknown_score,rejected\n" : "\n";
  const auto to = std::back_inserter(text);
  for (const ScoredExample& example : report.scored) {
    text += paths ? escape_csv(example.path) : std::to_string(example.row);
    fmt::format_to(to, ",{},{:d},{},{:d},{}", escape_csv(example.label), example.known,
                   escape_csv(report.classes[static_cast<std::size_t>(example.predicted)].name), example.correct,
                   example.probability);
    if (report.may_reject) fmt::format_to(to, ",{},{:d}", example.unknown_score, example.rejected);
    text += '\n';
  }
  return text;
}

std::string confusion_csv(const ScoreReport& report) {
  std::string text = "label,known,predicted,examples\n";
  for (const ScoredPair& pair : report.pairs) {
    fmt::format_to(std::back_inserter(text), "{},{:d},{},{}\n", escape_csv(pair.label), pair.known,
                   escape_csv(pair.predicted), pair.count);
  }
  return text;
}

std::string classes_csv(const ScoreReport& report) {
  std::string text = "class,examples,correct,recall,recall_low,recall_high,predicted,precision\n";
  for (const ClassScore& score : report.classes) {
    const auto end = [&](double value) { return score.recall ? fmt::format("{}", value) : std::string(); };
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{}\n", escape_csv(score.name), score.examples,
                   score.correct, csv_percent(score.recall), end(score.recall_interval.low),
                   end(score.recall_interval.high), score.predicted, csv_percent(score.precision));
  }
  return text;
}

}  // namespace annulus
