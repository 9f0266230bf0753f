// Reports of a protocol as text: a table to read, JSON and CSV to keep.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "annulus/eval/comparison.h"
#include "annulus/eval/many_way.h"
#include "annulus/eval/stamp.h"

namespace annulus {

// What a report says about itself beside its numbers.
struct ReportContext {
  std::string train_source;                   // file the training rows were drawn from
  std::string test_source;                    // file of the test rows
  std::uint64_t seed = 0;                     // of the first draw
  std::size_t subsets = 0;                    // draws
  std::map<std::string, std::string> recipe;  // describe(recipe)
  std::string base_source{};                  // file of the base classes; empty: there are none
  std::optional<Stamp> stamp{};
};

// An aligned table, one line a method and number of shots, ending in a newline.
std::string many_way_table(const ManyWayReport& report);

// One line a comparison: how far two methods are apart on the same draws; `pairs` names what was paired. Empty where
// there is nothing to compare.
std::string comparison_table(std::span<const MethodComparison> comparisons, const std::string& pairs);

// {"protocol": "many-way", "version", "source", ..., "results": [{"method", "shots", "accuracy_mean", "accuracy_std",
// "runs": [{"seed", "accuracy", "epsilon", "seconds", ...}], "recall", "confusions", "calibration", "search"}],
// "comparisons", "stamp"}, as docs/file-formats.md says; accuracies in percent; shots 0 means every row.
std::string many_way_json(const ManyWayReport& report, const ReportContext& context);

// One line a run: method,shots,seed,accuracy,top5,macro,ece,epsilon,seconds; what a method does not have is left empty.
std::string many_way_csv(const ManyWayReport& report);

}  // namespace annulus
