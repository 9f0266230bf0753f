// Reports of a protocol: a table to read, JSON and CSV to process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "annulus/eval/protocols/comparison.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/eval/protocols/run_metadata.h"

namespace annulus {

// The context of a report.
struct ReportContext {
  std::string train_source;                   // file of the training examples
  std::string test_source;                    // file of the test examples
  std::uint64_t seed = 0;                     // of the first split
  std::size_t split_count = 0;                // number of splits
  std::map<std::string, std::string> recipe;  // describe(recipe)
  std::string base_source{};                  // file of the base classes; empty: there are none
  std::optional<RunMetadata> metadata{};
};

// An aligned table, one line per method and number of shots, ending in a newline.
std::string many_way_table(const ManyWayReport& report);

// One line per comparison: the difference of two methods on the same splits. `pairs` names what was paired. Empty where
// there is nothing to compare.
std::string comparison_table(std::span<const MethodComparison> comparisons, const std::string& pairs);

// {"protocol": "many-way", "version", "source", ..., "results": [{"method", "transductive", "shots", "accuracy_mean",
// "accuracy_std", "runs": [{"seed", "accuracy", "epsilon", "seconds", ...}], "recall", "confusions", "calibration",
// "search"}], "comparisons", "metadata"}; see docs/reference/file-formats.md. Accuracies are in percent; shots 0 means
// all examples.
std::string many_way_json(const ManyWayReport& report, const ReportContext& context);

// One line per run: method,shots,seed,accuracy,top5,macro,ece,epsilon,seconds,transductive; values that a method lacks
// are empty.
std::string many_way_csv(const ManyWayReport& report);

}  // namespace annulus
