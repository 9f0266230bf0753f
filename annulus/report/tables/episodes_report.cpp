// Episodes as a table and as JSON.
#include "annulus/report/tables/episodes_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "annulus/base/version.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/report/documents/results_json.h"
#include "annulus/report/tables/result_text.h"

namespace annulus {
namespace {

using Json = nlohmann::ordered_json;

Json worst_json(const EpisodesResult& result) {
  Json json = Json::array();
  for (const HardEpisode& episode : result.worst_ones) {
    json.push_back({{"seed", episode.seed},
                    {"episode", episode.number},
                    {"accuracy", episode.accuracy},
                    {"classes", episode.classes}});
  }
  return json;
}

}  // namespace

std::string episodes_table(const EpisodesReport& report) {
  std::size_t width = std::string_view("method").size();
  for (const EpisodesResult& result : report.results) width = std::max(width, method_label(result.method).size());
  std::string text = fmt::format("{:>5}  {:<{}}  {:>13}  {:>6}  {:>6}  {:>6}  {:>7}  {:>7}  {:>9}\n", "shots", "method",
                                 width, "ACC_m %", "sigma", "ACC_1", "ACC_10", "ACC_100", "epsilon", "seconds");
  for (const EpisodesResult& result : report.results) {
    // The plus-minus sign takes two bytes and one column, so its parts are aligned separately.
    text += fmt::format("{:>5}  {:<{}}  {:>6.2f} ± {:>4.2f}  {:>6.2f}  {:>6.2f}  {:>6.2f}  {:>7.2f}  {:>7}  {:>9.2f}\n",
                        result.shots, method_label(result.method), width, result.mean, result.interval,
                        result.standard_deviation, result.worst, result.worst_10, result.worst_100,
                        epsilon_text(result.epsilon), result.seconds);
  }
  return text;
}

std::string episodes_json(const EpisodesReport& report, const EpisodesOptions& options, const std::string& source,
                          const std::optional<RunMetadata>& metadata) {
  Json results = Json::array();
  for (const EpisodesResult& result : report.results) {
    results.push_back({{"method", result.method},
                       {"transductive", is_transductive(result.method)},
                       {"shots", result.shots},
                       {"acc_m", result.mean},
                       {"sigma", result.standard_deviation},
                       {"acc_1", result.worst},
                       {"acc_10", result.worst_10},
                       {"acc_100", result.worst_100},
                       {"ci95", result.interval},
                       {"ci95_classes", result.class_interval},
                       {"learning_rate", optional_json(result.learning_rate)},
                       {"epsilon", result.epsilon},
                       {"seconds", result.seconds},
                       {"accuracies", result.accuracies},
                       {"worst", worst_json(result)}});
  }
  Json json = {{"protocol", "episodes"},
               {"version", kVersion},
               {"source", source},
               {"dimension", report.dimension},
               {"ways", options.ways},
               {"queries", options.queries},
               {"query_balance", to_string(options.query_balance)},
               {"episodes", options.episodes},
               {"seeds", options.seeds},
               {"seed", options.seed},
               {"ci95_over", "all episodes of all seeds"},
               {"options", describe(options.recipe)},
               {"results", std::move(results)},
               {"comparisons", comparisons_json(report.comparisons, "episode")}};
  if (metadata) json["metadata"] = metadata_json(*metadata);
  if (options.base != nullptr) json["base"] = options.base->source();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace annulus
