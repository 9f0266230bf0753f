// Ctrl-C: asks running work to stop at its next step.
#pragma once

namespace annulus::cli {

// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the program at once.
void catch_interrupts();
bool interrupted();
// Throws Error{kCancelled} when the flag is set; for places between two pieces of work.
void stop_if_interrupted();

}  // namespace annulus::cli
