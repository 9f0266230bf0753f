// Formats many-way reports.
#include "annulus/eval/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "annulus/base/version.h"
#include "annulus/eval/metrics.h"

namespace annulus {
namespace {

std::string shots_text(std::size_t shots) { return shots == 0 ? "all" : std::to_string(shots); }

double mean_of(const ManyWayResult& result, double ManyWayRun::*field) {
  std::vector<double> values;
  for (const ManyWayRun& run : result.runs) values.push_back(run.*field);
  return summarize(values).mean;
}

// Time of one run, with the digits that matter at its size.
std::string seconds_text(double seconds) {
  if (seconds < 1.0) return fmt::format("{:.3f}", seconds);
  return seconds < 100.0 ? fmt::format("{:.1f}", seconds) : fmt::format("{:.0f}", seconds);
}

}  // namespace

std::string many_way_table(const ManyWayReport& report) {
  std::size_t width = std::string_view("method").size();
  for (const ManyWayResult& result : report.results) width = std::max(width, result.method.size());
  std::string text = fmt::format("{:>5}  {:<{}}  {:>15}  {:>7}  {:>9}\n", "shots", "method", width, "accuracy %",
                                 "epsilon", "seconds");
  for (const ManyWayResult& result : report.results) {
    const double epsilon = mean_of(result, &ManyWayRun::epsilon);
    // The plus-minus sign takes two bytes and one column, so the cell is aligned by its parts.
    text += fmt::format("{:>5}  {:<{}}  {:>7.2f} ± {:>5.2f}  {:>7}  {:>9}\n", shots_text(result.shots), result.method,
                        width, result.accuracy_mean, result.accuracy_std,
                        epsilon == 0.0 ? "-" : fmt::format("{:.3f}", epsilon),
                        seconds_text(mean_of(result, &ManyWayRun::seconds)));
  }
  return text;
}

std::string many_way_json(const ManyWayReport& report, const ReportContext& context) {
  using Json = nlohmann::ordered_json;
  Json results = Json::array();
  for (const ManyWayResult& result : report.results) {
    Json runs = Json::array();
    for (const ManyWayRun& run : result.runs) {
      runs.push_back({{"seed", run.seed},
                      {"accuracy", run.accuracy},
                      {"epsilon", run.epsilon},
                      {"seconds", run.seconds},
                      {"support_rows", run.support_rows},
                      {"query_rows", run.query_rows}});
    }
    results.push_back({{"method", result.method},
                       {"shots", result.shots},
                       {"accuracy_mean", result.accuracy_mean},
                       {"accuracy_std", result.accuracy_std},
                       {"runs", std::move(runs)}});
  }
  Json json = {{"protocol", "many-way"},
               {"version", kVersion},
               {"source", {{"train", context.train_source}, {"test", context.test_source}}},
               {"ways", report.ways},
               {"dimension", report.dimension},
               {"seed", context.seed},
               {"subsets", context.subsets},
               {"options", context.recipe},
               {"results", std::move(results)}};
  if (!context.base_source.empty()) json["source"]["base"] = context.base_source;
  // File names may hold any bytes; those that are not UTF-8 are replaced rather than refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string many_way_csv(const ManyWayReport& report) {
  std::string text = "method,shots,seed,accuracy,epsilon,seconds\n";
  for (const ManyWayResult& result : report.results) {
    for (const ManyWayRun& run : result.runs) {
      text += fmt::format("{},{},{},{},{},{}\n", result.method, result.shots, run.seed, run.accuracy, run.epsilon,
                          run.seconds);
    }
  }
  return text;
}

}  // namespace annulus
