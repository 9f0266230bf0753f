// Names the numbers of a run.
#include "annulus/store/results/run_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "annulus/report/documents/results_json.h"

namespace annulus {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> optional_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json search_json(const SearchResult& search) {
  Json probes = Json::array();
  for (const Probe& probe : search.probes) {
    probes.push_back({probe.epsilon, probe.accuracy, probe.passed, probe.low, probe.high, probe.seconds});
  }
  return {{"epsilon", search.epsilon},
          {"target", search.target},
          {"upper_accuracy", search.upper_accuracy},
          {"seconds", search.seconds},
          {"probes", std::move(probes)}};
}

SearchResult search_from(const Json& json) {
  SearchResult search;
  search.epsilon = json.at("epsilon");
  search.target = json.at("target");
  search.upper_accuracy = json.at("upper_accuracy");
  search.seconds = json.at("seconds");
  for (const Json& probe : json.at("probes")) {
    search.probes.push_back({probe.at(0).get<double>(), probe.at(1).get<double>(), probe.at(2).get<bool>(),
                             probe.at(3).get<double>(), probe.at(4).get<double>(), probe.at(5).get<double>()});
  }
  return search;
}

Json metrics_json(const MetricResult& metrics) {
  Json confusions = Json::array();
  for (const Confusion& pair : metrics.confusions) {
    confusions.push_back({pair.truth, pair.predicted, pair.count, pair.example});
  }
  Json confidence = Json::array();
  for (const ConfidenceBin& bin : metrics.confidence) confidence.push_back({bin.confidence, bin.correct, bin.count});
  return {{"top5", optional_json(metrics.top5)}, {"macro", metrics.macro},
          {"ece", optional_json(metrics.ece)},   {"recall", recall_json(metrics.recall)},
          {"confusions", std::move(confusions)}, {"confidence", std::move(confidence)}};
}

MetricResult metrics_from(const Json& json) {
  MetricResult metrics;
  metrics.top5 = optional_number(json.at("top5"));
  metrics.macro = json.at("macro");
  metrics.ece = optional_number(json.at("ece"));
  for (const Json& value : json.at("recall")) {
    metrics.recall.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  for (const Json& pair : json.at("confusions")) {
    metrics.confusions.push_back({pair.at(0).get<std::int32_t>(), pair.at(1).get<std::int32_t>(),
                                  pair.at(2).get<std::size_t>(), pair.at(3).get<std::uint32_t>()});
  }
  for (const Json& bin : json.at("confidence")) {
    metrics.confidence.push_back({bin.at(0).get<double>(), bin.at(1).get<std::size_t>(), bin.at(2).get<std::size_t>()});
  }
  return metrics;
}

}  // namespace

std::string run_to_json(const ManyWayRun& run) {
  const Json json = {{"seed", run.seed},
                     {"accuracy", run.accuracy},
                     {"epsilon", run.epsilon},
                     {"seconds", run.seconds},
                     {"support_examples", run.support_examples},
                     {"query_examples", run.query_examples},
                     {"metrics", metrics_json(run.metrics)},
                     {"search", run.search ? search_json(*run.search) : Json()}};
  return json.dump();
}

ManyWayRun run_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    ManyWayRun run;
    run.seed = json.at("seed");
    run.accuracy = json.at("accuracy");
    run.epsilon = json.at("epsilon");
    run.seconds = json.at("seconds");
    run.support_examples = json.at("support_examples");
    run.query_examples = json.at("query_examples");
    run.metrics = metrics_from(json.at("metrics"));
    run.metrics.accuracy = run.accuracy;
    if (!json.at("search").is_null()) run.search = search_from(json.at("search"));
    return run;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "expected a cached run, found other text: {}", error.what());
  }
}

std::string seed_to_json(const SeedScore& score) {
  return nlohmann::json{{"accuracies", score.accuracies},
                        {"epsilons", score.epsilons},
                        {"correct", score.correct},
                        {"rows", score.rows},
                        {"seconds", score.seconds}}
      .dump();
}

SeedScore seed_from_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    return {json.at("accuracies"), json.at("epsilons"), json.at("correct"), json.at("rows"), json.at("seconds")};
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "expected the episodes of a seed as they were kept, found text that is none: {}",
         error.what());
  }
}

}  // namespace annulus
