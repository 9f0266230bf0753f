// Results documents, the JSON that evaluate, episodes and demo write, read into plain structs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

// Accuracies, fractions and calibration errors are in percent. Values that a document lacks are absent (or empty),
// never 0.
struct ResultsRun {
  std::optional<std::uint64_t> seed;
  std::optional<double> accuracy;
  std::optional<double> epsilon;
  std::optional<double> seconds;  // of training
};

struct ConfusedPair {
  std::string truth;
  std::string predicted;
  std::optional<double> count;     // over all runs
  std::optional<double> fraction;  // of the test examples of class `truth`
  std::string example;             // path of a misclassified image; may be empty
  std::string predicted_example;   // path of a training image of class `predicted`; may be empty
};

struct CalibrationBin {
  double confidence = 0.0;  // mean in the bin
  double accuracy = 0.0;
  std::optional<double> count;
};

struct SearchProbe {
  double epsilon = 0.0;
  double accuracy = 0.0;  // on virtual examples of that radius
  bool passed = false;
};

struct SearchTrace {
  std::optional<double> target;
  std::vector<SearchProbe> probes;  // in the order tried
};

struct WorstEpisode {
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> episode;
  double accuracy = 0.0;
  std::vector<std::string> classes;
};

// One method at one number of shots.
struct MethodResult {
  std::string method;                    // "tim (transductive)" where it is: every table and plot then says so
  bool transductive = false;             // it saw all test examples at once
  std::size_t shots = 0;                 // 0: all examples
  double accuracy = 0.0;                 // accuracy_mean or acc_m
  std::optional<double> spread;          // standard deviation over splits, or sigma over episodes
  std::optional<double> interval;        // episodes: half width of the 95 % interval of the mean
  std::optional<double> class_interval;  // ci95_classes
  std::optional<double> top5, macro, calibration_error;
  std::optional<double> worst_1, worst_10, worst_100;  // episodes: ACC_1, ACC_10, ACC_100
  std::optional<double> epsilon;                       // mean over runs; absent for methods without a radius
  std::optional<double> seconds;                       // many-way: mean of a run; episodes: all of them
  std::optional<double> learning_rate;
  std::vector<ResultsRun> runs;
  std::vector<std::optional<double>> recall;  // in the order of the document's classes
  std::vector<ConfusedPair> confusions;       // most frequent first, at most kMostConfusionsShown
  std::vector<CalibrationBin> calibration;
  SearchTrace search;
  std::vector<WorstEpisode> worst;
  std::vector<std::vector<double>> accuracies;  // per seed and episode
};

struct PairedComparison {
  std::size_t shots = 0;
  std::string method;
  std::string against;
  double difference = 0.0;  // in points; positive: `method` is better
  std::optional<double> interval;
  std::optional<double> p_value;
  std::string test;
};

// How the results were produced.
struct ResultsMetadata {
  std::map<std::string, std::string> chosen_on;  // by method
  std::optional<bool> test_labels_used;
  std::vector<std::uint64_t> seeds;
  std::vector<std::pair<std::string, std::string>> checksums;
  std::string machine, time, command;
  std::optional<double> threads;
};

enum class ResultsProtocol { kManyWay, kEpisodes };

struct ResultsDocument {
  ResultsProtocol protocol = ResultsProtocol::kManyWay;
  std::string name;     // the file that it was read from
  std::string version;  // of the program that wrote it
  std::string train_source, test_source, base_source;
  std::string query_balance;  // "all", "balanced" or "dirichlet:1"; empty in older documents
  std::optional<double> ways, dimension, split_count, queries, episodes, seeds;
  std::map<std::string, std::string> options;
  std::optional<ResultsMetadata> metadata;
  std::vector<std::string> classes;
  std::vector<MethodResult> results;  // at least one
  std::vector<PairedComparison> comparisons;
};

inline constexpr std::size_t kMostConfusionsShown = 20;
inline constexpr std::size_t kLargestResultsText = std::size_t{32} << 20;  // bytes of a document that is read

// The document in `text`, or the documents of a merged one. `name` is the file, for errors and as the documents' name.
// Throws Error{kFormat} that names the first invalid value: no JSON, another protocol, a value of another type or out
// of range, more than kLargestResultsText bytes. Unknown keys are ignored.
std::vector<ResultsDocument> parse_results(std::string_view text, const std::string& name);

// {"documents": [...]} with the documents in `texts`, all of which parse_results accepts; nothing is left out or
// rounded.
std::string merge_results(std::span<const std::string> texts);

}  // namespace annulus
