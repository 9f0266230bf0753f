// Results of episodes as a table and JSON.
#pragma once

#include <optional>
#include <string>

#include "annulus/eval/protocols/episodes.h"
#include "annulus/eval/protocols/run_metadata.h"

namespace annulus {

// An aligned table, ending in a newline.
std::string episodes_table(const EpisodesReport& report);

// {"protocol": "episodes", ..., "results": [{"method", "shots", "acc_m", "sigma", "acc_1", "acc_10", "acc_100", "ci95",
// ...}], "comparisons", "metadata"}; see docs/reference/file-formats.md.
std::string episodes_json(const EpisodesReport& report, const EpisodesOptions& options, const std::string& source,
                          const std::optional<RunMetadata>& metadata = {});

}  // namespace annulus
