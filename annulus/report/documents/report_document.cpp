// Copies the numbers of reports; what a method lacks is absent.
#include "annulus/report/documents/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "annulus/base/version.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/report/documents/results_json.h"

namespace annulus {
namespace {

double as_number(std::size_t count) { return static_cast<double>(count); }

// Methods without a radius have 0.
std::optional<double> radius(double epsilon) { return epsilon == 0.0 ? std::nullopt : std::optional(epsilon); }

std::optional<double> mean_of(const std::vector<ManyWayRun>& runs, double ManyWayRun::*field) {
  if (runs.empty()) return std::nullopt;
  double sum = 0.0;
  for (const ManyWayRun& run : runs) sum += run.*field;
  return sum / as_number(runs.size());
}

std::vector<ConfusedPair> pairs_of(const ManyWayResult& result, const std::vector<std::string>& names) {
  std::vector<ConfusedPair> pairs;
  for (const NamedConfusion& confusion : result.confusions) {
    if (pairs.size() == kMostConfusionsShown) break;
    pairs.push_back({names[static_cast<std::size_t>(confusion.pair.truth)],
                     names[static_cast<std::size_t>(confusion.pair.predicted)], as_number(confusion.pair.count),
                     confusion.fraction, confusion.example, confusion.predicted_example});
  }
  return pairs;
}

std::vector<CalibrationBin> bins_of(const ManyWayResult& result) {
  std::vector<CalibrationBin> bins;
  for (const ConfidenceBin& bin : result.confidence) {
    if (bin.count == 0) continue;
    const double count = as_number(bin.count);
    bins.push_back({100.0 * bin.confidence / count, 100.0 * as_number(bin.correct) / count, count});
  }
  return bins;
}

SearchTrace trace_of(const ManyWayResult& result) {
  SearchTrace trace;
  if (result.runs.empty() || !result.runs.front().search) return trace;
  const SearchResult& search = *result.runs.front().search;
  trace.target = 100.0 * search.target;
  for (const Probe& probe : search.probes) {
    trace.probes.push_back({probe.epsilon, 100.0 * probe.accuracy, probe.passed});
  }
  return trace;
}

MethodResult result_of(const ManyWayResult& from, const std::vector<std::string>& names) {
  MethodResult result;
  result.method = method_label(from.method);
  result.transductive = is_transductive(from.method);
  result.shots = from.shots;
  result.accuracy = from.accuracy_mean;
  result.spread = from.accuracy_std;
  result.class_interval = from.class_interval;
  result.top5 = from.top5_mean;
  result.macro = from.macro_mean;
  result.calibration_error = from.ece_mean;
  for (const ManyWayRun& run : from.runs) {
    result.runs.push_back({run.seed, run.accuracy, run.epsilon, run.seconds});
  }
  result.epsilon = radius(mean_of(from.runs, &ManyWayRun::epsilon).value_or(0.0));
  result.seconds = mean_of(from.runs, &ManyWayRun::seconds);
  for (const double recall : from.recall) {
    result.recall.push_back(std::isnan(recall) ? std::nullopt : std::optional(recall));
  }
  result.confusions = pairs_of(from, names);
  result.calibration = bins_of(from);
  result.search = trace_of(from);
  return result;
}

MethodResult result_of(const EpisodesResult& from) {
  MethodResult result;
  result.method = method_label(from.method);
  result.transductive = is_transductive(from.method);
  result.shots = from.shots;
  result.accuracy = from.mean;
  result.spread = from.standard_deviation;
  result.interval = from.interval;
  result.class_interval = from.class_interval;
  result.worst_1 = from.worst;
  result.worst_10 = from.worst_10;
  result.worst_100 = from.worst_100;
  result.epsilon = radius(from.epsilon);
  result.seconds = from.seconds;
  result.learning_rate = from.learning_rate;
  for (const HardEpisode& episode : from.worst_ones) {
    result.worst.push_back({episode.seed, episode.number, episode.accuracy, episode.classes});
  }
  result.accuracies = from.accuracies;
  return result;
}

std::vector<PairedComparison> comparisons_of(std::span<const MethodComparison> from, const std::string& paired_by) {
  std::vector<PairedComparison> comparisons;
  for (const MethodComparison& each : from) {
    comparisons.push_back({each.shots, method_label(each.method), method_label(each.against), each.paired.difference,
                           each.paired.interval, each.paired.p_value, test_name(paired_by)});
  }
  return comparisons;
}

ResultsMetadata metadata_of(const RunMetadata& from) {
  ResultsMetadata metadata;
  metadata.chosen_on = from.chosen_on;
  metadata.test_labels_used = from.test_labels_used;
  metadata.seeds = from.seeds;
  metadata.checksums.assign(from.checksums.begin(), from.checksums.end());
  for (std::size_t i = 0; i < from.splits.size(); ++i) {
    metadata.checksums.emplace_back(fmt::format("splits {}", i + 1), from.splits[i]);
  }
  metadata.machine = from.machine;
  metadata.time = from.time;
  metadata.command = from.command;
  metadata.threads = as_number(from.threads);
  return metadata;
}

}  // namespace

ResultsDocument document_of(const ManyWayReport& report, const ReportContext& context, const std::string& name) {
  ResultsDocument document;
  document.protocol = ResultsProtocol::kManyWay;
  document.name = name;
  document.version = kVersion;
  document.train_source = context.train_source;
  document.test_source = context.test_source;
  document.base_source = context.base_source;
  document.ways = as_number(report.ways);
  document.dimension = as_number(report.dimension);
  document.query_balance = report.query_balance ? to_string(*report.query_balance) : "all";
  document.split_count = as_number(context.split_count);
  document.options = context.recipe;
  if (context.metadata) document.metadata = metadata_of(*context.metadata);
  document.classes = report.class_names;
  for (const ManyWayResult& result : report.results) document.results.push_back(result_of(result, report.class_names));
  document.comparisons = comparisons_of(report.comparisons, "class");
  return document;
}

ResultsDocument document_of(const EpisodesReport& report, const EpisodesOptions& options, const std::string& source,
                            const std::optional<RunMetadata>& metadata, const std::string& name) {
  ResultsDocument document;
  document.protocol = ResultsProtocol::kEpisodes;
  document.name = name;
  document.version = kVersion;
  document.train_source = document.test_source = source;
  if (options.base != nullptr) document.base_source = options.base->source();
  document.ways = as_number(options.ways);
  document.dimension = as_number(report.dimension);
  document.queries = as_number(options.queries);
  document.query_balance = to_string(options.query_balance);
  document.episodes = as_number(options.episodes);
  document.seeds = as_number(options.seeds);
  document.options = describe(options.recipe);
  if (metadata) document.metadata = metadata_of(*metadata);
  for (const EpisodesResult& result : report.results) document.results.push_back(result_of(result));
  document.comparisons = comparisons_of(report.comparisons, "episode");
  return document;
}

}  // namespace annulus
