// Many-way reports as a table, JSON and CSV.
#include "annulus/report/tables/protocol_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "annulus/base/version.h"
#include "annulus/eval/metrics/metrics.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/report/documents/results_json.h"
#include "annulus/report/tables/result_text.h"

namespace annulus {
namespace {

using Json = nlohmann::ordered_json;

double mean_of(const ManyWayResult& result, double ManyWayRun::*field) {
  std::vector<double> values;
  for (const ManyWayRun& run : result.runs) values.push_back(run.*field);
  return summarize(values).mean;
}

std::string optional_text(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : "-"; }

Json confusions_json(const ManyWayResult& result, std::span<const std::string> names) {
  Json json = Json::array();
  for (const NamedConfusion& confusion : result.confusions) {
    Json entry = {{"truth", names[static_cast<std::size_t>(confusion.pair.truth)]},
                  {"predicted", names[static_cast<std::size_t>(confusion.pair.predicted)]},
                  {"count", confusion.pair.count},
                  {"fraction", confusion.fraction}};
    if (!confusion.example.empty()) entry["example"] = confusion.example;
    if (!confusion.predicted_example.empty()) entry["predicted_example"] = confusion.predicted_example;
    json.push_back(std::move(entry));
  }
  return json;
}

Json calibration_json(const ManyWayResult& result) {
  Json json = Json::array();
  for (const ConfidenceBin& bin : result.confidence) {
    if (bin.count == 0) continue;
    const auto count = static_cast<double>(bin.count);
    json.push_back({{"confidence", 100.0 * bin.confidence / count},
                    {"accuracy", 100.0 * static_cast<double>(bin.correct) / count},
                    {"count", bin.count}});
  }
  return json;
}

Json search_json(const std::optional<SearchResult>& search) {
  if (!search) return {};
  Json probes = Json::array();
  for (const Probe& probe : search->probes) {
    probes.push_back({{"epsilon", probe.epsilon}, {"accuracy", 100.0 * probe.accuracy}, {"passed", probe.passed}});
  }
  return {{"target", 100.0 * search->target}, {"probes", std::move(probes)}};
}

Json result_json(const ManyWayResult& result, std::span<const std::string> names) {
  Json runs = Json::array();
  for (const ManyWayRun& run : result.runs) runs.push_back(run_summary_json(run));
  return {{"method", result.method},
          {"transductive", is_transductive(result.method)},
          {"shots", result.shots},
          {"accuracy_mean", result.accuracy_mean},
          {"accuracy_std", result.accuracy_std},
          {"ci95_classes", result.class_interval},
          {"top5_mean", optional_json(result.top5_mean)},
          {"macro_mean", result.macro_mean},
          {"ece_mean", optional_json(result.ece_mean)},
          {"runs", std::move(runs)},
          {"recall", recall_json(result.recall)},
          {"confusions", confusions_json(result, names)},
          {"calibration", calibration_json(result)},
          {"search", result.runs.empty() ? Json() : search_json(result.runs.front().search)}};
}

}  // namespace

std::string many_way_table(const ManyWayReport& report) {
  std::size_t width = std::string_view("method").size();
  for (const ManyWayResult& result : report.results) width = std::max(width, method_label(result.method).size());
  std::string text = fmt::format("{:>5}  {:<{}}  {:>15}  {:>6}  {:>6}  {:>7}  {:>9}\n", "shots", "method", width,
                                 "accuracy %", "top-5", "ECE", "epsilon", "seconds");
  for (const ManyWayResult& result : report.results) {
    // The plus-minus sign takes two bytes and one column, so its parts are aligned separately.
    text += fmt::format("{:>5}  {:<{}}  {:>7.2f} ± {:>5.2f}  {:>6}  {:>6}  {:>7}  {:>9}\n", shots_text(result.shots),
                        method_label(result.method), width, result.accuracy_mean, result.accuracy_std,
                        optional_text(result.top5_mean), optional_text(result.ece_mean),
                        epsilon_text(mean_of(result, &ManyWayRun::epsilon)),
                        seconds_text(mean_of(result, &ManyWayRun::seconds)));
  }
  return text;
}

std::string comparison_table(std::span<const MethodComparison> comparisons, const std::string& pairs) {
  if (comparisons.empty()) return {};
  std::size_t width = 0;
  for (const MethodComparison& comparison : comparisons)
    width = std::max(width, method_label(comparison.method).size());
  std::string text = fmt::format("on the same splits, paired by {}, difference in points with 95 % interval:\n", pairs);
  for (const MethodComparison& comparison : comparisons) {
    const PairedDifference& paired = comparison.paired;
    text +=
        fmt::format("{:>5}  {:<{}}  - {}  {:>+7.2f} ± {:>5.2f}  {}\n", shots_text(comparison.shots),
                    method_label(comparison.method), width, method_label(comparison.against), paired.difference,
                    paired.interval, paired.p_value < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", paired.p_value));
  }
  return text;
}

std::string many_way_json(const ManyWayReport& report, const ReportContext& context) {
  Json results = Json::array();
  for (const ManyWayResult& result : report.results) results.push_back(result_json(result, report.class_names));
  Json json = {{"protocol", "many-way"},
               {"version", kVersion},
               {"source", {{"train", context.train_source}, {"test", context.test_source}}},
               {"ways", report.ways},
               {"dimension", report.dimension},
               {"query_balance", report.query_balance ? to_string(*report.query_balance) : "all"},
               {"seed", context.seed},
               {"subsets", context.split_count},
               {"options", context.recipe},
               {"classes", report.class_names},
               {"results", std::move(results)},
               {"comparisons", comparisons_json(report.comparisons, "class")}};
  if (!context.base_source.empty()) json["source"]["base"] = context.base_source;
  if (context.metadata) json["metadata"] = metadata_json(*context.metadata);
  // File names may contain any bytes; invalid UTF-8 is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string many_way_csv(const ManyWayReport& report) {
  std::string text = "method,shots,seed,accuracy,top5,macro,ece,epsilon,seconds,transductive\n";
  const auto optional = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; };
  for (const ManyWayResult& result : report.results) {
    for (const ManyWayRun& run : result.runs) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", result.method, result.shots, run.seed, run.accuracy,
                          optional(run.metrics.top5), run.metrics.macro, optional(run.metrics.ece), run.epsilon,
                          run.seconds, is_transductive(result.method));
    }
  }
  return text;
}

}  // namespace annulus
