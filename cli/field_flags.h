// What the command line calls the fields that errors of the library name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "annulus/base/error.h"

namespace annulus::cli {

// The option of the subcommand that sets the field: "--lr" for learning_rate. The field's own name when the subcommand
// has no such option.
std::string flag_of(const std::string& field, const CLI::App& subcommand);

// The message of an error in the words of the subcommand.
std::string message_for(const Error& error, const CLI::App& subcommand);

}  // namespace annulus::cli
