// Formats predictions.
#include "cli/predict/prediction_format.h"

#include <fmt/format.h>

#include "annulus/base/error.h"

namespace annulus::cli {
namespace {

const SupportSet kNoSupport{};

// Without control characters, which a terminal would obey: each becomes a question mark.
std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F in UTF-8
      clean += '?';
      ++i;
    } else {
      clean += byte < 0x20 || byte == 0x7f ? '?' : text[i];
    }
  }
  return clean;
}

// A CSV field by RFC 4180: quoted only where it has to be. Spreadsheets take a cell that begins with one of these
// characters as a formula; an apostrophe before it makes it text.
std::string csv_field(std::string_view given) {
  const bool formula = !given.empty() && std::string_view("=+-@\t\r").find(given.front()) != std::string_view::npos;
  const std::string text = (formula ? "'" : "") + std::string(given);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
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

std::string rejection_text(double false_reject, double caught) {
  return fmt::format(
      "unknown inputs: of those like none of the classes, about {:.0f} % are caught at a false-rejection rate of {:g} "
      "%",
      100.0 * caught, 100.0 * false_reject);
}

PredictionWriter::PredictionWriter(const PredictionLayout& layout)
    : layout_(layout),
      json_(layout.class_names, layout.support == nullptr ? kNoSupport : *layout.support, layout.epsilon, layout.tree) {
}

std::string_view PredictionWriter::name_of_support(const NearExample& near) const {
  return layout_.class_names[static_cast<std::size_t>(layout_.support->labels[near.row])];
}

std::string PredictionWriter::support_text(const NearExample& near) const {
  const std::vector<std::string>& paths = layout_.support->paths;
  return paths.empty() ? fmt::format("training example {}", near.row) : paths[near.row];
}

std::string PredictionWriter::header() const {
  if (layout_.format != PredictionFormat::kCsv) return {};
  std::string header = fmt::format("{},label,probability", layout_.has_paths ? "path" : "row");
  for (std::size_t i = 2; i <= layout_.top; ++i) header += fmt::format(",label_{0},probability_{0}", i);
  if (layout_.may_reject) header += ",unknown,unknown_score,best";
  if (!layout_.tree.empty()) header += ",best_class,lineage";
  if (layout_.support == nullptr) return header + "\n";
  for (std::size_t i = 1; i <= kExplainedExamples; ++i)
    header += fmt::format(",near_{0},near_label_{0},near_cosine_{0}", i);
  return header + ",runner_up,runner_up_probability,boundary_distance,epsilon\n";
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
  const Prediction& prediction = row.prediction;
  std::string line = (layout_.has_paths ? printable(row.path) : std::to_string(row.row)) + "\t";
  if (prediction.rejected) line += "unknown (best: ";
  const bool names_group = prediction.level + 1 < prediction.lineage.size() && !prediction.rejected;
  if (names_group) {
    const RankedNode& group = prediction.lineage[prediction.level];
    line += fmt::format("{} {:.1f} % (which one is unsure: ", printable(name(group)),
                        100.0 * static_cast<double>(group.probability));
  }
  for (std::size_t i = 0; i < prediction.top.size(); ++i) {
    line += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", printable(name(prediction.top[i])),
                        100.0 * static_cast<double>(prediction.top[i].probability));
  }
  if (prediction.rejected || names_group) line += ")";
  line += "\n";
  return prediction.explanation ? line + text_explanation(*prediction.explanation) : line;
}

std::string PredictionWriter::text_explanation(const Explanation& explanation) const {
  std::string text = "\tnearest: ";
  for (std::size_t i = 0; i < explanation.nearest.size(); ++i) {
    const NearExample& near = explanation.nearest[i];
    text += fmt::format("{}{} ({}, cosine {:.3f})", i == 0 ? "" : ", ", printable(support_text(near)),
                        printable(name_of_support(near)), near.cosine);
  }
  text += "\n\t";
  if (explanation.runner_up) {
    text += fmt::format("runner-up: {} {:.1f} %; ", printable(name(*explanation.runner_up)),
                        100.0 * static_cast<double>(explanation.runner_up->probability));
  }
  return text + fmt::format("distance to the decision boundary {:.2f}; trained at {:.2f}\n",
                            explanation.boundary_distance, layout_.epsilon);
}

std::string PredictionWriter::json_line(const PredictedRow& row) const {
  std::string line;
  json_.write({.prediction = row.prediction,
               .row = row.row,
               .path = layout_.has_paths ? std::optional(row.path) : std::nullopt,
               .may_reject = layout_.may_reject,
               .rejected = row.prediction.rejected},
              line);
  return line + "\n";
}

std::string PredictionWriter::csv_label(const Prediction& prediction) const {
  if (prediction.rejected) return kUnknownLabel;
  if (prediction.lineage.empty()) return csv_field(name(prediction.top.front()));
  return csv_field(name(prediction.lineage[prediction.level]));
}

std::string PredictionWriter::csv_line(const PredictedRow& row) const {
  const Prediction& prediction = row.prediction;
  std::string line = layout_.has_paths ? csv_field(row.path) : std::to_string(row.row);
  for (std::size_t i = 0; i < prediction.top.size(); ++i) {
    const std::string label = i == 0 ? csv_label(prediction) : csv_field(name(prediction.top[i]));
    line += fmt::format(",{},{}", label, i == 0 ? prediction.probability : prediction.top[i].probability);
  }
  if (layout_.may_reject) {
    line += fmt::format(",{},{},{}", prediction.rejected ? 1 : 0, prediction.unknown_score,
                        csv_field(name(prediction.top.front())));
  }
  if (!layout_.tree.empty()) {
    std::string lineage;
    for (const RankedNode& node : prediction.lineage) {
      lineage += fmt::format("{}{} {}", lineage.empty() ? "" : " > ", name(node), node.probability);
    }
    line += fmt::format(",{},{}", csv_field(name(prediction.top.front())), csv_field(lineage));
  }
  return (prediction.explanation ? line + csv_explanation(*prediction.explanation) : line) + "\n";
}

std::string PredictionWriter::csv_explanation(const Explanation& explanation) const {
  std::string fields;
  for (std::size_t i = 0; i < kExplainedExamples; ++i) {
    if (i >= explanation.nearest.size()) {
      fields += ",,,";
      continue;
    }
    const NearExample& near = explanation.nearest[i];
    const std::string place =
        layout_.support->paths.empty() ? std::to_string(near.row) : layout_.support->paths[near.row];
    fields += fmt::format(",{},{},{}", csv_field(place), csv_field(name_of_support(near)), near.cosine);
  }
  if (explanation.runner_up) {
    fields += fmt::format(",{},{}", csv_field(name(*explanation.runner_up)), explanation.runner_up->probability);
  } else {
    fields += ",,";
  }
  return fields + fmt::format(",{},{}", explanation.boundary_distance, layout_.epsilon);
}

}  // namespace annulus::cli
