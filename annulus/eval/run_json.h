// A run as one line of JSON and back, to the last bit: how finished runs are kept.
#pragma once

#include <string>

#include "annulus/eval/many_way.h"

namespace annulus {

std::string run_to_json(const ManyWayRun& run);
// Throws Error{kFormat} for text that run_to_json does not write.
ManyWayRun run_from_json(const std::string& text);

}  // namespace annulus
