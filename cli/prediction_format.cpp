// Formats predictions.
#include "cli/prediction_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "annulus/base/error.h"

namespace annulus::cli {
namespace {

constexpr const char* kUnknownLabel = "unknown";

// The double whose shortest spelling is that of the float, so that JSON says 0.93 and not 0.9300000071525574.
double short_double(float value) { return std::stod(fmt::format("{}", value)); }

// A CSV field by RFC 4180: quoted only where it has to be.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

PredictionFormat prediction_format_from(std::string_view name) {
  if (name == "text") return PredictionFormat::kText;
  if (name == "jsonl") return PredictionFormat::kJsonLines;
  if (name == "csv") return PredictionFormat::kCsv;
  fail(ErrorKind::kUsage, "format \"{}\" is unknown; expected text, jsonl or csv", name);
}

std::string_view PredictionWriter::name_of_support(const NearRow& near) const {
  return layout_.class_names[static_cast<std::size_t>(layout_.support->labels[near.row])];
}

std::string PredictionWriter::support_text(const NearRow& near) const {
  const std::vector<std::string>& paths = layout_.support->paths;
  return paths.empty() ? fmt::format("training row {}", near.row) : paths[near.row];
}

std::string PredictionWriter::header() const {
  if (layout_.format != PredictionFormat::kCsv) return {};
  std::string header = fmt::format("{},label,probability", layout_.has_paths ? "path" : "row");
  for (std::size_t i = 2; i <= layout_.top; ++i) header += fmt::format(",label_{0},probability_{0}", i);
  if (layout_.may_refuse) header += ",unknown,unknown_score,best";
  if (layout_.support == nullptr) return header + "\n";
  for (std::size_t i = 1; i <= kExplainedRows; ++i)
    header += fmt::format(",near_{0},near_label_{0},near_cosine_{0}", i);
  return header + ",runner_up,runner_up_probability,radius,epsilon\n";
}

std::string PredictionWriter::line(const PredictedRow& row) const {
  switch (layout_.format) {
    case PredictionFormat::kText:
      return text_line(row);
    case PredictionFormat::kJsonLines:
      return json_line(row);
    case PredictionFormat::kCsv:
      return csv_line(row);
  }
  fail(ErrorKind::kInternal, "prediction format {} has no writer", static_cast<int>(layout_.format));
}

std::string PredictionWriter::text_line(const PredictedRow& row) const {
  const Answer& answer = row.answer;
  std::string line = (layout_.has_paths ? std::string(row.path) : std::to_string(row.row)) + "\t";
  if (answer.refused) line += "unknown (best: ";
  for (std::size_t i = 0; i < answer.top.size(); ++i) {
    line += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", name(answer.top[i]),
                        100.0 * static_cast<double>(answer.top[i].probability));
  }
  if (answer.refused) line += ")";
  line += "\n";
  return answer.explanation ? line + text_explanation(*answer.explanation) : line;
}

std::string PredictionWriter::text_explanation(const Explanation& explanation) const {
  std::string text = "\tnearest: ";
  for (std::size_t i = 0; i < explanation.nearest.size(); ++i) {
    const NearRow& near = explanation.nearest[i];
    text += fmt::format("{}{} ({}, cosine {:.3f})", i == 0 ? "" : ", ", support_text(near), name_of_support(near),
                        near.cosine);
  }
  text += "\n\t";
  if (explanation.runner_up) {
    text += fmt::format("runner-up: {} {:.1f} %; ", name(*explanation.runner_up),
                        100.0 * static_cast<double>(explanation.runner_up->probability));
  }
  return text +
         fmt::format("the answer changes at radius {:.2f}; trained at {:.2f}\n", explanation.radius, layout_.epsilon);
}

std::string PredictionWriter::json_line(const PredictedRow& row) const {
  const Answer& answer = row.answer;
  using Json = nlohmann::ordered_json;
  Json json;
  if (layout_.has_paths) {
    json["path"] = row.path;
  } else {
    json["row"] = row.row;
  }
  json["label"] = answer.refused ? std::string_view(kUnknownLabel) : name(answer.top.front());
  json["probability"] = short_double(answer.top.front().probability);
  if (layout_.may_refuse) {
    json["unknown"] = answer.refused;
    json["unknown_score"] = short_double(answer.unknown_score);
    json["best"] = name(answer.top.front());
  }
  json["top"] = Json::array();
  for (const RankedClass& ranked : answer.top) {
    json["top"].push_back({{"label", name(ranked)}, {"probability", short_double(ranked.probability)}});
  }
  if (answer.explanation) {
    Json& explain = json["explain"];
    explain["nearest"] = Json::array();
    for (const NearRow& near : answer.explanation->nearest) {
      Json entry;
      if (!layout_.support->paths.empty()) entry["path"] = layout_.support->paths[near.row];
      entry["training_row"] = near.row;
      entry["label"] = name_of_support(near);
      entry["cosine"] = short_double(near.cosine);
      explain["nearest"].push_back(std::move(entry));
    }
    if (answer.explanation->runner_up) {
      explain["runner_up"] = {{"label", name(*answer.explanation->runner_up)},
                              {"probability", short_double(answer.explanation->runner_up->probability)}};
    }
    explain["radius"] = short_double(answer.explanation->radius);
    explain["epsilon"] = layout_.epsilon;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string PredictionWriter::csv_line(const PredictedRow& row) const {
  const Answer& answer = row.answer;
  std::string line = layout_.has_paths ? csv_field(row.path) : std::to_string(row.row);
  for (std::size_t i = 0; i < answer.top.size(); ++i) {
    const std::string label = i == 0 && answer.refused ? kUnknownLabel : csv_field(name(answer.top[i]));
    line += fmt::format(",{},{}", label, answer.top[i].probability);
  }
  if (layout_.may_refuse) {
    line += fmt::format(",{},{},{}", answer.refused ? 1 : 0, answer.unknown_score, csv_field(name(answer.top.front())));
  }
  return (answer.explanation ? line + csv_explanation(*answer.explanation) : line) + "\n";
}

std::string PredictionWriter::csv_explanation(const Explanation& explanation) const {
  std::string fields;
  for (std::size_t i = 0; i < kExplainedRows; ++i) {
    if (i >= explanation.nearest.size()) {
      fields += ",,,";
      continue;
    }
    const NearRow& near = explanation.nearest[i];
    const std::string place =
        layout_.support->paths.empty() ? std::to_string(near.row) : layout_.support->paths[near.row];
    fields += fmt::format(",{},{},{}", csv_field(place), csv_field(name_of_support(near)), near.cosine);
  }
  if (explanation.runner_up) {
    fields += fmt::format(",{},{}", csv_field(name(*explanation.runner_up)), explanation.runner_up->probability);
  } else {
    fields += ",,";
  }
  return fields + fmt::format(",{},{}", explanation.radius, layout_.epsilon);
}

}  // namespace annulus::cli
