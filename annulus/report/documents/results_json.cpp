// Names the numbers of results.
#include "annulus/report/documents/results_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace annulus {
namespace {
using Json = nlohmann::ordered_json;
}  // namespace

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json recall_json(std::span<const double> recall) {
  Json json = Json::array();
  for (const double value : recall) json.push_back(std::isnan(value) ? Json() : Json(value));
  return json;
}

Json run_summary_json(const ManyWayRun& run) {
  return {{"seed", run.seed},
          {"accuracy", run.accuracy},
          {"top5", optional_json(run.metrics.top5)},
          {"macro", run.metrics.macro},
          {"ece", optional_json(run.metrics.ece)},
          {"epsilon", run.epsilon},
          {"seconds", run.seconds},
          {"support_examples", run.support_examples},
          {"query_examples", run.query_examples}};
}

Json class_gain_json(const ClassGain& gain) {
  Json bins = Json::array();
  for (const GainBin& bin : gain.bins) {
    bins.push_back({{"classes", bin.classes}, {"baseline", bin.baseline}, {"gain", bin.gain}});
  }
  return {
      {"classes", gain.classes}, {"improved", gain.improved}, {"worsened", gain.worsened}, {"bins", std::move(bins)}};
}

std::string test_name(const std::string& paired_by) { return "two-sided sign-flip test, paired by " + paired_by; }

Json comparisons_json(std::span<const MethodComparison> comparisons, const std::string& paired_by) {
  Json json = Json::array();
  for (const MethodComparison& comparison : comparisons) {
    json.push_back({{"shots", comparison.shots},
                    {"method", comparison.method},
                    {"against", comparison.against},
                    {"difference", comparison.paired.difference},
                    {"ci95", comparison.paired.interval},
                    {"p_value", comparison.paired.p_value},
                    {"pairs", comparison.paired.pairs},
                    {"test", test_name(paired_by)}});
  }
  return json;
}

}  // namespace annulus
