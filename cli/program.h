// The annulus program: parses the command line, runs the subcommand, turns errors into exit codes.
#pragma once

namespace annulus::cli {

// What main() does; the exit code.
int run_program(int count, char** arguments);

}  // namespace annulus::cli
