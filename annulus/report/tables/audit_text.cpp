// Audits as text, JSON and JSON lines.
#include "annulus/report/tables/audit_text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "annulus/base/version.h"

namespace annulus {
namespace {

constexpr std::array<std::string_view, kFindingKinds> kMeanings = {
    "test examples that are training examples too: accuracy measured on them is too high",
    "labels more likely wrong than right",
    "images that cannot be used",
    "exact duplicates",
    "near duplicates",
    "examples far from all others",
    "images of hardly more than one colour",
    "images smaller than the input of the backbone",
    "classes without examples",
    "classes with a single example",
    "pairs of classes that can hardly be separated",
    "classes with a recall below one half: more examples help most there"};

nlohmann::ordered_json accuracies_json(const std::vector<ShotAccuracy>& points) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ShotAccuracy& point : points) {
    json.push_back({{"shots", point.shots}, {"accuracy", point.accuracy}, {"low", point.low}, {"high", point.high}});
  }
  return json;
}

std::string curve_text(const LearningCurve& curve) {
  std::string text;
  if (curve.measured.empty()) return text;
  const ShotAccuracy& last = curve.measured.back();
  text += fmt::format("nearest prototype: accuracy {:.1f} % with {} example{} per class", last.accuracy, last.shots,
                      last.shots == 1 ? "" : "s");
  if (curve.predicted.empty()) return text + "; too few examples to predict the effect of more\n";
  const ShotAccuracy& twice = curve.predicted.back();
  return text + fmt::format("; predicted for {}: {:.1f} % ({:.0f} to {:.0f})\n", twice.shots, twice.accuracy, twice.low,
                            twice.high);
}

}  // namespace

std::string audit_text(const AuditReport& report) {
  std::string text =
      fmt::format("audited {} examples of {} classes from {}\n", report.rows, report.classes, report.source);
  bool any = false;
  for (std::size_t kind = 0; kind < kFindingKinds; ++kind) {
    if (report.counts[kind] == 0) continue;
    any = true;
    text += fmt::format("{:>7}  {:<14}  {}{}\n", report.counts[kind], to_string(static_cast<FindingKind>(kind)),
                        kMeanings[kind], kind == 0 ? " !" : "");
    for (const AuditFinding& finding : report.findings) {
      if (static_cast<std::size_t>(finding.kind) != kind || finding.rank > 3 || finding.rank > report.counts[kind]) {
        continue;
      }
      text += fmt::format("{:>9}{}\n", "", finding.text);
    }
  }
  if (!any) text += "nothing was found to be wrong\n";
  if (const std::string note = small_set_note(report); !note.empty()) text += note + "\n";
  if (report.planted != 0) {
    text += fmt::format("trial: of {} wrong labels planted in this data, {:.0f} % came first in the ranking\n",
                        report.planted, report.planted_recall);
  }
  return text + curve_text(report.curve);
}

nlohmann::ordered_json audit_json(const AuditReport& report) {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (std::size_t kind = 0; kind < kFindingKinds; ++kind) {
    counts[std::string(to_string(static_cast<FindingKind>(kind)))] = report.counts[kind];
  }
  return {{"version", kVersion},
          {"source", report.source},
          {"examples", report.rows},
          {"classes", report.classes},
          {"dimension", report.dimension},
          {"counts", std::move(counts)},
          {"findings", report.findings.size()},
          {"planted", report.planted},
          {"planted_recall", report.planted_recall},
          {"recognised", report.recognised},
          {"typical_distance", report.typical_distance},
          {"near_distance", report.near_distance},
          {"learning_curve",
           {{"shots", report.curve.shots},
            {"measured", accuracies_json(report.curve.measured)},
            {"predicted", accuracies_json(report.curve.predicted)}}}};
}

std::string audit_json_lines(const AuditReport& report) {
  std::string text;
  for (const AuditFinding& finding : report.findings) {
    nlohmann::ordered_json json = {{"kind", to_string(finding.kind)}, {"rank", finding.rank}};
    if (finding.row) json["row"] = *finding.row;
    if (!finding.path.empty()) json["path"] = finding.path;
    if (!finding.class_name.empty()) json["class"] = finding.class_name;
    if (!finding.other_class.empty()) {
      json[finding.kind == FindingKind::kMislabelled ? "suggested" : "other_class"] = finding.other_class;
    }
    if (finding.other_row) json["other_row"] = *finding.other_row;
    if (!finding.other_path.empty()) json["other_path"] = finding.other_path;
    json["score"] = finding.score;
    json["text"] = finding.text;
    // File names may contain any bytes.
    text += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace annulus
