// Ablations as a table, Markdown, JSON and CSV.
#include "annulus/report/tables/ablation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "annulus/base/version.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/report/documents/results_json.h"
#include "annulus/report/tables/result_text.h"

namespace annulus {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kChosen = "best of these ON THE TEST LABELS";

Json gains_json(const AblationReport& report) {
  Json gains = Json::array();
  for (const AblationGain& entry : report.gains) {
    Json json = {{"shots", entry.shots}};
    json.update(class_gain_json(entry.gain));
    gains.push_back(std::move(json));
  }
  return gains;
}

Json row_json(const AblationRow& row) {
  Json runs = Json::array();
  for (const ManyWayRun& run : row.score.runs) runs.push_back(run_summary_json(run));
  return {{"method", row.name},
          {"transductive", is_transductive(row.name)},
          {"shots", row.shots},
          {"beside", row.beside},
          {"learning_rate", row.score.learning_rate == 0.0 ? Json() : Json(row.score.learning_rate)},
          {"best_on_test_labels", row.best_on_test_labels},
          {"accuracy_mean", row.score.accuracy.mean},
          {"accuracy_std", row.score.accuracy.standard_deviation},
          {"runs", std::move(runs)},
          {"recall", recall_json(row.score.recall)}};
}

}  // namespace

bool uses_test_labels(const AblationReport& report) {
  return std::any_of(report.rows.begin(), report.rows.end(),
                     [](const AblationRow& row) { return row.best_on_test_labels; });
}

std::string ablation_table(const AblationReport& report, bool colour) {
  std::size_t width = 8;
  for (const AblationRow& row : report.rows) width = std::max(width, method_label(row.name).size());
  std::string text = fmt::format("{}: {}\n{:>5}  {:<{}}  {:>15}  {:>7}  {:>9}\n", report.kind.name, report.kind.title,
                                 "shots", "variant", width, "accuracy %", "epsilon", "seconds");
  for (const AblationRow& row : report.rows) {
    const Summary& accuracy = row.score.accuracy;
    text += fmt::format("{:>5}  {:<{}}  {:>7.2f} ± {:>5.2f}  {:>7}  {:>9.3f}", shots_text(row.shots),
                        method_label(row.name), width, accuracy.mean, accuracy.standard_deviation,
                        epsilon_text(row.score.epsilon), row.score.seconds);
    if (row.best_on_test_labels) text += "  " + red_text(kChosen, colour);
    text += "\n";
  }
  for (const AblationGain& entry : report.gains) {
    text += fmt::format("\n{} shots: {:.1f} % of {} classes gain, {:.1f} % lose\n  bin  classes  baseline %    gain\n",
                        shots_text(entry.shots), entry.gain.improved, entry.gain.classes, entry.gain.worsened);
    for (std::size_t i = 0; i < entry.gain.bins.size(); ++i) {
      const GainBin& bin = entry.gain.bins[i];
      text += fmt::format("{:>5}  {:>7}  {:>10.2f}  {:>+6.2f}\n", i + 1, bin.classes, bin.baseline, bin.gain);
    }
  }
  return text;
}

std::string ablation_markdown(const AblationReport& report) {
  std::string text =
      fmt::format("## {}: {}\n\n| shots | variant | accuracy % | epsilon | seconds |\n|---|---|---|---|---|\n",
                  report.kind.name, report.kind.title);
  for (const AblationRow& row : report.rows) {
    text +=
        fmt::format("| {} | {}{} | {:.2f} ± {:.2f} | {} | {:.3f} |\n", shots_text(row.shots), method_label(row.name),
                    row.best_on_test_labels ? fmt::format(" (**{}**)", kChosen) : "", row.score.accuracy.mean,
                    row.score.accuracy.standard_deviation, epsilon_text(row.score.epsilon), row.score.seconds);
  }
  for (const AblationGain& entry : report.gains) {
    text += fmt::format(
        "\n{} shots: {:.1f} % of {} classes gain, {:.1f} % lose.\n\n| bin | classes | baseline % | gain |\n"
        "|---|---|---|---|\n",
        shots_text(entry.shots), entry.gain.improved, entry.gain.classes, entry.gain.worsened);
    for (std::size_t i = 0; i < entry.gain.bins.size(); ++i) {
      const GainBin& bin = entry.gain.bins[i];
      text += fmt::format("| {} | {} | {:.2f} | {:+.2f} |\n", i + 1, bin.classes, bin.baseline, bin.gain);
    }
  }
  return text;
}

std::string ablation_json(const AblationReport& report, const AblationContext& context) {
  Json results = Json::array();
  for (const AblationRow& row : report.rows) results.push_back(row_json(row));
  Json json = {{"protocol", "many-way"},
               {"version", kVersion},
               {"ablation", report.kind.name},
               {"title", report.kind.title},
               {"source", {{"train", context.source}, {"test", context.source}}},
               {"ways", report.rows.empty() ? 0 : report.rows.front().score.recall.size()},
               {"seed", context.seed},
               {"subsets", context.split_count},
               {"options", context.options},
               {"metadata", metadata_json(context.metadata)},
               {"results", std::move(results)}};
  if (!report.gains.empty()) json["gains"] = gains_json(report);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ablation_csv(const AblationReport& report) {
  std::string text = "variant,shots,seed,accuracy,epsilon,seconds\n";
  for (const AblationRow& row : report.rows) {
    for (const ManyWayRun& run : row.score.runs) {
      text +=
          fmt::format("\"{}\",{},{},{},{},{}\n", row.name, row.shots, run.seed, run.accuracy, run.epsilon, run.seconds);
    }
  }
  return text;
}

}  // namespace annulus
