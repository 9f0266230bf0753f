// Properties of the machine and the process, for run metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "annulus/eval/protocols/run_metadata.h"

namespace annulus {

// Processor, number of processors, system: "AMD EPYC, 2 processors, Linux".
std::string machine_text();
// The command line of this process, separated by spaces, without the path of the program.
std::string command_line();
// Now, in UTC: "2026-01-31T12:00:00Z".
std::string time_text();

// The run metadata of this process, without checksums; seeds are first, first + 1, ...
RunMetadata make_run_metadata(std::span<const std::string> methods, const std::string& rate_on,
                              std::uint64_t first_seed, std::size_t seeds, int threads);

}  // namespace annulus
