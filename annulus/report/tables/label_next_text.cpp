// Writes choices, one line each.
#include "annulus/report/tables/label_next_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "annulus/base/version.h"
#include "annulus/report/tables/table_formats.h"

namespace annulus {
namespace {

nlohmann::ordered_json choice_json(const LabelSheet& sheet, std::size_t index) {
  const LabelChoice& choice = sheet.choices[index];
  nlohmann::ordered_json json{{"rank", index + 1}};
  if (sheet.paths.empty()) {
    json["row"] = choice.row;
  } else {
    json["path"] = sheet.paths[choice.row];
  }
  json["reason"] = to_string(choice.reason);
  if (choice.guess) {
    json["guess"] = sheet.guess_of(choice);
    json["uncertainty"] = choice.uncertainty;
  } else {
    json["guess"] = nullptr;
    json["uncertainty"] = nullptr;
  }
  json["stands_for"] = choice.stands_for;
  return json;
}

}  // namespace

std::string LabelSheet::name_of(const LabelChoice& choice) const {
  return paths.empty() ? fmt::format("row {}", choice.row) : paths[choice.row];
}

std::string LabelSheet::guess_of(const LabelChoice& choice) const {
  if (!choice.guess) return {};
  const auto index = static_cast<std::size_t>(*choice.guess);
  return index < class_names.size() ? class_names[index] : std::to_string(index);
}

std::string label_next_text(const LabelSheet& sheet) {
  std::string text =
      fmt::format("label these {} of {} examples next, the most useful first\n", sheet.choices.size(), sheet.examples);
  for (std::size_t i = 0; i < sheet.choices.size(); ++i) {
    const LabelChoice& choice = sheet.choices[i];
    text += fmt::format("{:>5}  {:<9}  {}", i + 1, to_string(choice.reason), sheet.name_of(choice));
    if (choice.guess) text += fmt::format("  ({}?)", sheet.guess_of(choice));
    text += "\n";
  }
  return text;
}

std::string label_next_json_lines(const LabelSheet& sheet) {
  std::string text;
  for (std::size_t i = 0; i < sheet.choices.size(); ++i) {
    text += choice_json(sheet, i).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return text;
}

std::string label_next_csv(const LabelSheet& sheet) {
  std::string text = fmt::format("rank,{},reason,guess,uncertainty,stands_for\n", sheet.paths.empty() ? "row" : "path");
  for (std::size_t i = 0; i < sheet.choices.size(); ++i) {
    const LabelChoice& choice = sheet.choices[i];
    text += fmt::format("{},{},{},{},{},{}\n", i + 1,
                        sheet.paths.empty() ? std::to_string(choice.row) : escape_csv(sheet.paths[choice.row]),
                        to_string(choice.reason), escape_csv(sheet.guess_of(choice)),
                        choice.guess ? fmt::format("{:.4f}", choice.uncertainty) : "", choice.stands_for);
  }
  return text;
}

nlohmann::ordered_json label_next_json(const LabelSheet& sheet) {
  nlohmann::ordered_json reasons = nlohmann::ordered_json::object();
  for (const LabelReason reason : {LabelReason::kTypical, LabelReason::kUncertain, LabelReason::kNewClass}) {
    reasons[std::string(to_string(reason))] = std::count_if(
        sheet.choices.begin(), sheet.choices.end(), [&](const LabelChoice& choice) { return choice.reason == reason; });
  }
  nlohmann::ordered_json choices = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < sheet.choices.size(); ++i) choices.push_back(choice_json(sheet, i));
  return {{"version", kVersion},        {"source", sheet.source}, {"examples", sheet.examples},
          {"labelled", sheet.labelled}, {"reasons", reasons},     {"choices", choices}};
}

}  // namespace annulus
