// Names the numbers of a score.
#include "annulus/report/documents/score_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "annulus/base/version.h"
#include "annulus/report/documents/results_json.h"

namespace annulus {
namespace {

using ScoreJson = nlohmann::ordered_json;

ScoreJson interval_json(const PercentInterval& interval) { return ScoreJson::array({interval.low, interval.high}); }

ScoreJson classes_json(const ScoreReport& report) {
  ScoreJson json = ScoreJson::array();
  for (const ClassScore& score : report.classes) {
    json.push_back({{"name", score.name},
                    {"examples", score.examples},
                    {"correct", score.correct},
                    {"recall", optional_json(score.recall)},
                    {"recall_interval", score.recall ? interval_json(score.recall_interval) : ScoreJson()},
                    {"predicted", score.predicted},
                    {"precision", optional_json(score.precision)}});
  }
  return json;
}

ScoreJson confusion_json(const ScoreReport& report) {
  ScoreJson json = ScoreJson::array();
  for (const ScoredPair& pair : report.pairs) {
    json.push_back(
        {{"label", pair.label}, {"known", pair.known}, {"predicted", pair.predicted}, {"examples", pair.count}});
  }
  return json;
}

ScoreJson calibration_json(const ScoreReport& report) {
  ScoreJson bins = ScoreJson::array();
  for (const CalibrationPoint& point : report.calibration) {
    bins.push_back({{"examples", point.examples}, {"confidence", point.confidence}, {"accuracy", point.accuracy}});
  }
  return {{"ece", report.calibration_error}, {"confidence", report.confidence}, {"bins", std::move(bins)}};
}

ScoreJson groups_json(const GroupScore& groups) {
  ScoreJson levels = ScoreJson::array();
  for (const LevelScore& level : groups.levels) {
    levels.push_back({{"examples", level.examples}, {"accuracy", level.accuracy}, {"ece", level.calibration_error}});
  }
  return {{"sure", groups.sure},
          {"right", groups.right},
          {"named_classes", groups.named_classes},
          {"levels", std::move(levels)}};
}

ScoreJson rejection_json(const RejectionPoint& point) {
  return {{"false_reject", point.false_reject},
          {"rejected", point.rejected},
          {"accuracy", optional_json(point.accuracy)},
          {"caught", optional_json(point.caught)},
          {"expected_caught", optional_json(point.expected_caught)}};
}

ScoreJson unknown_json(const ScoreReport& report) {
  ScoreJson labels = ScoreJson::array();
  for (const UnknownLabel& label : report.unknown_labels) {
    labels.push_back({{"name", label.name},
                      {"examples", label.examples},
                      {"rejected", report.may_reject ? ScoreJson(label.rejected) : ScoreJson()}});
  }
  ScoreJson curve = ScoreJson::array();
  for (const RejectionPoint& point : report.curve) curve.push_back(rejection_json(point));
  return {{"can_reject", report.may_reject},
          {"examples", report.unknown_inputs},
          {"labels", std::move(labels)},
          {"chosen", report.may_reject ? rejection_json(report.rejection) : ScoreJson()},
          {"curve", std::move(curve)}};
}

ScoreJson worst_json(const ScoreReport& report) {
  ScoreJson json = ScoreJson::array();
  for (std::size_t i = 0; i < std::min(kMostWorstInJson, report.worst.size()); ++i) {
    const ScoredExample& example = report.scored[report.worst[i]];
    ScoreJson entry = {{"row", example.row}};
    if (!example.path.empty()) entry["path"] = example.path;
    entry["label"] = example.label;
    entry["predicted"] = report.classes[static_cast<std::size_t>(example.predicted)].name;
    entry["probability"] = example.probability;
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace

ScoreJson score_json(const ScoreReport& report) {
  ScoreJson json = {{"version", kVersion},
                    {"source", report.source},
                    {"accuracy", report.accuracy},
                    {"interval", interval_json(report.interval)},
                    {"chance", report.chance},
                    {"examples", report.examples},
                    {"correct", report.correct},
                    {"top5", optional_json(report.top5)},
                    {"macro_recall", report.macro_recall},
                    {"training_examples_left_out", report.left_out},
                    {"training_examples_scored", report.trained_on},
                    {"classes", classes_json(report)},
                    {"confusion", confusion_json(report)},
                    {"calibration", calibration_json(report)},
                    {"unknown", unknown_json(report)},
                    {"worst", worst_json(report)}};
  if (report.groups) json["groups"] = groups_json(*report.groups);
  return json;
}

}  // namespace annulus
