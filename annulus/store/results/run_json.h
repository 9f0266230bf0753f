// Finished runs as one line of JSON and back, to the last bit: the form in which a file keeps them.
#pragma once

#include <string>

#include "annulus/eval/protocols/episodes.h"
#include "annulus/eval/protocols/many_way.h"

namespace annulus {

std::string run_to_json(const ManyWayRun& run);
// Throws Error{kFormat} for text that run_to_json does not write.
ManyWayRun run_from_json(const std::string& text);

std::string seed_to_json(const SeedScore& score);
// Throws Error{kFormat} for text that seed_to_json does not write.
SeedScore seed_from_json(const std::string& text);

}  // namespace annulus
