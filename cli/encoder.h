// Images on the command line: the options that choose what turns them into features.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "annulus/store/encoder.h"
#include "cli/progress_bar.h"

namespace annulus::cli {

// --backbone, --preprocess, --cache and --strict. `default_backbone` says in the help what happens without the first.
void add_encoder_options(CLI::App& command, EncoderOptions& options, const std::string& default_backbone);

// Tells of the images that were left out, the first few by name.
void note_broken_images(const ExtractReport& report, ProgressBar& bar);

}  // namespace annulus::cli
