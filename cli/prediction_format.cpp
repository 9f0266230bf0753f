// Formats predictions.
#include "cli/prediction_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "annulus/base/error.h"

namespace annulus::cli {
namespace {

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

std::string PredictionWriter::header() const {
  if (format_ != PredictionFormat::kCsv) return {};
  std::string header = fmt::format("{},label,probability", has_paths_ ? "path" : "row");
  for (std::size_t i = 2; i <= top_; ++i) header += fmt::format(",label_{0},probability_{0}", i);
  return header + "\n";
}

std::string PredictionWriter::line(const PredictedRow& row) const {
  switch (format_) {
    case PredictionFormat::kText:
      return text_line(row);
    case PredictionFormat::kJsonLines:
      return json_line(row);
    case PredictionFormat::kCsv:
      return csv_line(row);
  }
  fail(ErrorKind::kInternal, "prediction format {} has no writer", static_cast<int>(format_));
}

std::string PredictionWriter::text_line(const PredictedRow& row) const {
  std::string line = has_paths_ ? std::string(row.path) : std::to_string(row.row);
  for (std::size_t i = 0; i < row.top.size(); ++i) {
    line += fmt::format("{}{} {:.1f} %", i == 0 ? "\t" : ", ", name(row.top[i]),
                        100.0 * static_cast<double>(row.top[i].probability));
  }
  return line + "\n";
}

std::string PredictionWriter::json_line(const PredictedRow& row) const {
  using Json = nlohmann::ordered_json;
  Json json;
  if (has_paths_) {
    json["path"] = row.path;
  } else {
    json["row"] = row.row;
  }
  json["label"] = name(row.top.front());
  json["probability"] = short_double(row.top.front().probability);
  json["top"] = Json::array();
  for (const RankedClass& ranked : row.top) {
    json["top"].push_back({{"label", name(ranked)}, {"probability", short_double(ranked.probability)}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string PredictionWriter::csv_line(const PredictedRow& row) const {
  std::string line = has_paths_ ? csv_field(row.path) : std::to_string(row.row);
  for (const RankedClass& ranked : row.top) {
    line += fmt::format(",{},{}", csv_field(name(ranked)), ranked.probability);
  }
  return line + "\n";
}

}  // namespace annulus::cli
