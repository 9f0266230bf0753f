// An ablation as a table, Markdown, JSON and CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "annulus/eval/protocols/ablation.h"
#include "annulus/eval/protocols/run_metadata.h"

namespace annulus {

// Metadata of an ablation report.
struct AblationContext {
  std::string source;  // file of the features
  std::uint64_t seed = 0;
  std::size_t split_count = 0;
  std::map<std::string, std::string> options;  // describe(recipe)
  RunMetadata metadata{};
};

// True when a row is marked as the best on the test labels.
bool uses_test_labels(const AblationReport& report);

// An aligned table, ending in a newline. `colour` prints warnings in red, for terminals.
std::string ablation_table(const AblationReport& report, bool colour);
// A Markdown table.
std::string ablation_markdown(const AblationReport& report);
// A results document of the protocol "many-way" whose methods are the variants, with the key "ablation" and, for the
// kind classes, "gains".
std::string ablation_json(const AblationReport& report, const AblationContext& context);
// variant,shots,seed,accuracy,epsilon,seconds: one line per run.
std::string ablation_csv(const AblationReport& report);

}  // namespace annulus
