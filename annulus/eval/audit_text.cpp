// Audits as text, JSON and JSON lines.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "annulus/base/version.h"
#include "annulus/eval/audit.h"

namespace annulus {
namespace {

constexpr std::array<std::string_view, kFindingKinds> kMeanings = {
    "test rows that are training rows too: accuracy measured on them is too good",
    "labels more likely wrong than right",
    "images that cannot be used",
    "rows that are there twice",
    "rows that are nearly there twice",
    "rows far from all others",
    "images of hardly more than one colour",
    "images smaller than what the backbone looks at",
    "classes without rows",
    "classes with a single row",
    "pairs of classes that can hardly be told apart",
    "classes of which less than half is recognised: more rows help most there"};

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
  text += fmt::format("nearest class mean: {:.1f} % right with {} row{} a class", last.accuracy, last.shots,
                      last.shots == 1 ? "" : "s");
  if (curve.predicted.empty()) return text + "; too few rows to say what more would bring\n";
  const ShotAccuracy& twice = curve.predicted.back();
  return text + fmt::format("; with {} perhaps {:.1f} % ({:.0f} to {:.0f})\n", twice.shots, twice.accuracy, twice.low,
                            twice.high);
}

}  // namespace

std::string audit_text(const AuditReport& report) {
  std::string text = fmt::format("audited {} rows of {} classes from {}\n", report.rows, report.classes, report.source);
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
  if (const std::string note = few_rows_note(report); !note.empty()) text += note + "\n";
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
          {"rows", report.rows},
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
    // Names of files may hold any bytes.
    text += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace annulus
