// Reproduced tables as text and as JSON.
#include "annulus/report/tables/reproduce_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "annulus/base/version.h"
#include "annulus/report/documents/results_json.h"
#include "annulus/report/tables/result_text.h"

namespace annulus {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOnTestLabels = "CHOSEN ON THE TEST LABELS";

std::string folder_of(const PaperFeatures& features) {
  return fmt::format("{}/{}/{}", features.pretraining, features.dataset, features.architecture);
}

std::string method_text(const PaperCell& cell) {
  std::string text = cell.method;
  if (cell.virtual_count != 0) text += fmt::format(" R {}", cell.virtual_count);
  if (!cell.noise_shape.empty()) text += " " + cell.noise_shape;
  return text;
}

std::string shots_text(const PaperCell& cell) { return cell.shots == 0 ? "1 %" : std::to_string(cell.shots); }

// The plus-minus sign takes two bytes and one column, so its parts are padded separately.
std::string paper_text(const PaperCell& cell) {
  if (cell.deviation) return fmt::format("{:>5.1f} ± {:>3.1f}", cell.value, *cell.deviation);
  return fmt::format("{:>5.1f}      ", cell.value);
}

std::string number_text(const std::optional<OurNumber>& number, const TextStyle& style) {
  if (!number) return fmt::format("{:>34}", "-");
  const std::string text = fmt::format("{:>6.2f} ± {:>5.2f} {:>+6.2f}{} {:<11}", number->value, number->deviation,
                                       number->difference, number->outside ? "!" : " ", number->chosen);
  return number->outside ? red_text(text, style.colour) : text;
}

std::size_t runs_of(const ReproducedCell& cell) {
  return cell.standard ? cell.standard->runs.size() : cell.best->runs.size();
}

std::string episodes_lines(std::span<const ReproducedCell> cells, const TextStyle& style) {
  std::string text;
  const auto numbers = [&](const char* name, auto member) {
    std::string line = fmt::format("{:<40}{:>5}  {:<9}{:<10}", "", "", "", name);
    std::string chosen;
    for (const ReproducedCell& cell : cells) {
      const std::optional<OurNumber>& number = cell.*member;
      const std::string value = fmt::format("{:>8.2f}{}", number->value, number->outside ? "!" : " ");
      line += number->outside ? red_text(value, style.colour) : value;
      chosen = number->chosen;
    }
    text += line + (chosen.empty() ? "" : "  " + chosen) + "\n";
  };
  const PaperCell& first = cells.front().paper;
  text += fmt::format("{:<40}{:>5}  {:<9}{:<10}", folder_of(first.features), first.shots, first.method, "paper");
  for (const ReproducedCell& cell : cells) text += fmt::format("{:>8.1f} ", cell.paper.value);
  text += "\n";
  if (cells.front().best) numbers("chosen", &ReproducedCell::best);
  if (cells.front().standard) numbers("default", &ReproducedCell::standard);
  return text;
}

Json number_json(const ReproducedCell& cell, const OurNumber& number, const char* choice) {
  Json runs = Json::array();
  for (const ManyWayRun& run : number.runs) runs.push_back(run_summary_json(run));
  const PaperCell& paper = cell.paper;
  Json json = {{"pretraining", paper.features.pretraining},
               {"dataset", paper.features.dataset},
               {"architecture", paper.features.architecture},
               {"backbone", backbone_name(paper.features.architecture)},
               {"method", paper.method},
               {"shots", paper.shots},
               {"metric", paper.metric},
               {"choice", choice},
               {"chosen", number.chosen},
               {"test_labels_used", number.test_labels},
               {"accuracy_mean", number.value},
               {"accuracy_std", number.deviation},
               {"paper_mean", paper.value},
               {"paper_std", paper.deviation && paper.metric == "accuracy" ? Json(*paper.deviation) : Json()},
               {"difference", number.difference},
               {"allowance", cell.allowance ? Json(cell.allowance->half_width) : Json()},
               {"allowance_basis", cell.allowance ? Json(cell.allowance->basis) : Json()},
               {"outside", cell.allowance ? Json(number.outside) : Json()},
               {"runs", std::move(runs)}};
  if (paper.virtual_count != 0) json["virtual"] = paper.virtual_count;
  if (!paper.noise_shape.empty()) json["noise_shape"] = paper.noise_shape;
  if (number.test_labels) {
    for (const Candidate& candidate : cell.candidates) {
      json["candidates"].push_back({{"name", candidate.name}, {"accuracy", candidate.accuracy}});
    }
  }
  return json;
}

Json gains_json(const ReproduceReport& report) {
  Json gains = Json::array();
  for (const GainByShots& entry : report.gains) {
    Json json = {{"features", folder_of(entry.features)}, {"shots", entry.shots}};
    json.update(class_gain_json(entry.gain));
    gains.push_back(std::move(json));
  }
  return gains;
}

}  // namespace

std::string reproduce_head(const PaperTable& table, const ReproduceOptions& options, const TextStyle& style) {
  std::string text = fmt::format("{}: {}.\nThe paper: {}.\n", table.name, table.title, table.source);
  if (!table.note.empty()) text += table.note + "\n";
  const bool episodes = table.name == "table3";
  if (options.best_rates) {
    text += red_text(fmt::format("best: the learning rate{} is {}{}, as the paper did. This is impossible in practice.",
                                 table.name == "table4" ? " (of svm: C)" : "", kOnTestLabels,
                                 episodes ? ", by 20 further episodes of the same examples" : ""),
                     style.colour) +
            "\n";
  }
  if (options.standard_rates) {
    text += "default: nothing is chosen on test labels";
    text += episodes || table.name == "table7"
                ? ".\n"
                : "; the paper has no such values for this table, ours stand beside its best.\n";
  }
  if (episodes) {
    return text + fmt::format("\n{:<40}{:>5}  {:<9}{:<10}{:>8} {:>8} {:>8} {:>8} {:>8}\n", "features", "shots",
                              "method", "", "ACC_m", "sigma", "ACC_1", "ACC_10", "ACC_100");
  }
  return text + fmt::format("\n{:<34}{:>5}  {:<17} {:>4}  {:>11}  {:<34}  {}\n", "features", "shots", "method", "runs",
                            "paper", "  best ± std   diff, on TEST labels", "  default ± std   diff");
}

std::string reproduce_lines(std::span<const ReproducedCell> cells, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i + 1;
    const PaperCell& cell = cells[i].paper;
    if (cell.metric != "accuracy") {
      while (end < cells.size() && cells[end].paper.method == cell.method && cells[end].paper.shots == cell.shots)
        ++end;
      text += episodes_lines(cells.subspan(i, end - i), style);
    } else {
      text += fmt::format("{:<34}{:>5}  {:<17} {:>4}  {}  {}  {}\n", folder_of(cell.features), shots_text(cell),
                          method_text(cell), runs_of(cells[i]), paper_text(cell), number_text(cells[i].best, style),
                          number_text(cells[i].standard, style));
    }
    i = end;
  }
  return text;
}

std::string gain_lines(const GainByShots& gain) {
  std::string text =
      fmt::format("{} shots: {:.1f} % of {} classes gain, {:.1f} % lose\n  bin  classes  baseline %    gain\n",
                  gain.shots, gain.gain.improved, gain.gain.classes, gain.gain.worsened);
  for (std::size_t i = 0; i < gain.gain.bins.size(); ++i) {
    const GainBin& bin = gain.gain.bins[i];
    text += fmt::format("{:>5}  {:>7}  {:>10.2f}  {:>+6.2f}\n", i + 1, bin.classes, bin.baseline, bin.gain);
  }
  return text;
}

std::string reproduce_foot(const ReproduceReport& report, const TextStyle& style) {
  std::string text;
  if (report.compared() != 0) {
    text += fmt::format("\n{} of {} values differ from the paper's by more than the allowance (marked !).\n",
                        report.outside(), report.compared());
    std::vector<std::string> bases;
    for (const ReproducedCell& cell : report.cells) {
      if (!cell.allowance || std::find(bases.begin(), bases.end(), cell.allowance->basis) != bases.end()) continue;
      bases.push_back(cell.allowance->basis);
    }
    for (const std::string& basis : bases) text += fmt::format("Allowance: {}, and rounding.\n", basis);
  }
  if (report.uses_test_labels()) {
    text += red_text(fmt::format("Values under \"{}\" are {}: they are too high.",
                                 report.table.name == "table3" ? "chosen" : "best", kOnTestLabels),
                     style.colour) +
            "\n";
  }
  if (report.missing.empty()) return text;
  text += "\nMissing files (.safetensors and .npz are read as well as .pth):\n";
  for (const MissingFiles& row : report.missing) {
    std::vector<std::string> names;
    for (const std::string& file : row.files) names.push_back(std::filesystem::path(file).filename().string());
    text += fmt::format("  {}  {} in {}\n    {}\n", folder_of(row.features), backbone_name(row.features.architecture),
                        std::filesystem::path(row.files.front()).parent_path().string(), fmt::join(names, " "));
  }
  return text;
}

std::string reproduce_json(const ReproduceReport& report, const ReproduceOptions& options,
                           const std::string& features_folder, const RunMetadata& metadata) {
  Json results = Json::array();
  for (const ReproducedCell& cell : report.cells) {
    if (cell.best) results.push_back(number_json(cell, *cell.best, "best"));
    if (cell.standard) results.push_back(number_json(cell, *cell.standard, "default"));
  }
  Json missing = Json::array();
  for (const MissingFiles& row : report.missing) {
    missing.push_back({{"features", folder_of(row.features)}, {"files", row.files}});
  }
  Json json = {{"protocol", "reproduce"},
               {"version", kVersion},
               {"table", report.table.name},
               {"title", report.table.title},
               {"paper", report.table.source},
               {"source", features_folder},
               {"seed", options.seed},
               {"options", describe(options.recipe)},
               {"metadata", metadata_json(metadata)},
               {"results", std::move(results)},
               {"missing", std::move(missing)}};
  if (!report.gains.empty()) json["gains"] = gains_json(report);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace annulus
