// The options that choose how images become features.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "annulus/pipeline/encoder.h"
#include "annulus/task/feature_set.h"

namespace annulus::cli {

// --backbone, --preprocess, --views, --precision, --cache, --strict and --offline. `default_backbone` says in the help
// what happens without the first.
void add_encoder_options(CLI::App& command, EncoderOptions& options, const std::string& default_backbone);

// --view-examples, of the subcommands that train.
void add_view_examples(CLI::App& command, EncoderOptions& options);

// Which network made the features of a set, and what a better one would cost; empty where the set does not say.
std::string backbone_text(const FeatureSet& set);

// Asks which network to use, on a terminal; empty where nobody is there to answer.
BackboneQuestion backbone_question();

// --offline: nothing is downloaded from then on.
void add_offline(CLI::App& command, const std::string& group = "");

// A line for the user on standard error, also where progress is drawn and where the command is quiet.
void print_note(const std::string& line);

}  // namespace annulus::cli
