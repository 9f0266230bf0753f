// What the system tells about itself, for the stamps of results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "annulus/eval/stamp.h"

namespace annulus {

// Processor, number of processors, system: "AMD EPYC, 2 processors, Linux".
std::string machine_text();
// The command line of this process, words apart by spaces; the path of the program is left out.
std::string command_line();
// Now, in UTC: "2026-01-31T12:00:00Z".
std::string time_text();

// The stamp of a result of this process: everything but the checksums; seeds are first, first + 1, ...
Stamp make_stamp(std::span<const std::string> methods, const std::string& rate_on, std::uint64_t first_seed,
                 std::size_t seeds, int threads);

}  // namespace annulus
