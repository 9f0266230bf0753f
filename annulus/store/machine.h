// What the system tells about itself, for the stamps of results.
#pragma once

#include <string>

namespace annulus {

// Processor, number of processors, system: "AMD EPYC, 2 processors, Linux".
std::string machine_text();
// The command line of this process, words apart by spaces; the path of the program is left out.
std::string command_line();
// Now, in UTC: "2026-01-31T12:00:00Z".
std::string time_text();

}  // namespace annulus
