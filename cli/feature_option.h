// --feature, which puts a feature to the networks that --backbone names ("dinov2-vits14" with mean is
// "dinov2-vits14:mean").
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace annulus::cli {

// Changes `backbone`, which an option that was added before this one has set, if any did.
void add_feature_option(CLI::App& command, std::string& backbone, const std::string& group = "");

}  // namespace annulus::cli
