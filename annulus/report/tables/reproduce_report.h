// Reproduced values beside the paper's, as text and JSON.
#pragma once

#include <span>
#include <string>

#include "annulus/eval/protocols/reproduce.h"
#include "annulus/eval/protocols/run_metadata.h"

namespace annulus {

struct TextStyle {
  bool colour = false;  // escape codes of a terminal
};

// The title of the table, the source of the paper's values, and the column names.
std::string reproduce_head(const PaperTable& table, const ReproduceOptions& options, const TextStyle& style);
// One line per cell. For episodes, one line per method and number of shots, followed by one with the paper's values.
std::string reproduce_lines(std::span<const ReproducedCell> cells, const TextStyle& style);
// The bins for one number of shots.
std::string gain_lines(const GainByShots& gain);
// The number of values outside the allowance, the missing files, and what was chosen on test labels.
std::string reproduce_foot(const ReproduceReport& report, const TextStyle& style);

// {"protocol": "reproduce", "table", "paper", "options", "metadata", "results": [{"pretraining", "dataset",
// "architecture", "method", "shots", "accuracy_mean", "accuracy_std", "paper_mean", "paper_std", "difference", "runs",
// ...}], "missing"}.
std::string reproduce_json(const ReproduceReport& report, const ReproduceOptions& options,
                           const std::string& features_folder, const RunMetadata& metadata);

}  // namespace annulus
