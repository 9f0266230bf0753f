// Turns what a user points at into features.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "annulus/base/progress.h"
#include "annulus/task/feature_set.h"

namespace annulus::cli {

struct DataOptions {
  std::string path;
  std::string labels;  // labels kept in a file of their own; empty: they are in the data, or there are none
};

void add_labels(CLI::App& command, DataOptions& options);

// Reads a feature file in any format the store knows.
FeatureSet load_data(const DataOptions& options, const ProgressCallback& progress);

}  // namespace annulus::cli
