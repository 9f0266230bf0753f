// Names the numbers of a run.
#include "annulus/eval/run_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "annulus/eval/results_json.h"

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

Json tally_json(const TallyResult& tally) {
  Json confusions = Json::array();
  for (const Confusion& pair : tally.confusions) {
    confusions.push_back({pair.truth, pair.predicted, pair.count, pair.example});
  }
  Json confidence = Json::array();
  for (const ConfidenceBin& bin : tally.confidence) confidence.push_back({bin.confidence, bin.hits, bin.count});
  return {{"top5", optional_json(tally.top5)},   {"macro", tally.macro},
          {"ece", optional_json(tally.ece)},     {"recall", recall_json(tally.recall)},
          {"confusions", std::move(confusions)}, {"confidence", std::move(confidence)}};
}

TallyResult tally_from(const Json& json) {
  TallyResult tally;
  tally.top5 = optional_number(json.at("top5"));
  tally.macro = json.at("macro");
  tally.ece = optional_number(json.at("ece"));
  for (const Json& value : json.at("recall")) {
    tally.recall.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  for (const Json& pair : json.at("confusions")) {
    tally.confusions.push_back({pair.at(0).get<std::int32_t>(), pair.at(1).get<std::int32_t>(),
                                pair.at(2).get<std::size_t>(), pair.at(3).get<std::uint32_t>()});
  }
  for (const Json& bin : json.at("confidence")) {
    tally.confidence.push_back({bin.at(0).get<double>(), bin.at(1).get<std::size_t>(), bin.at(2).get<std::size_t>()});
  }
  return tally;
}

}  // namespace

std::string run_to_json(const ManyWayRun& run) {
  const Json json = {{"seed", run.seed},
                     {"accuracy", run.accuracy},
                     {"epsilon", run.epsilon},
                     {"seconds", run.seconds},
                     {"support_rows", run.support_rows},
                     {"query_rows", run.query_rows},
                     {"tally", tally_json(run.tally)},
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
    run.support_rows = json.at("support_rows");
    run.query_rows = json.at("query_rows");
    run.tally = tally_from(json.at("tally"));
    run.tally.accuracy = run.accuracy;
    if (!json.at("search").is_null()) run.search = search_from(json.at("search"));
    return run;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "expected a run as it was kept, found text that is none: {}", error.what());
  }
}

}  // namespace annulus
