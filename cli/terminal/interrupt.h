// Signals: Ctrl-C asks running work to stop at its next step.
#pragma once

namespace annulus::cli {

// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the program at once.
void catch_interrupts();
bool interrupted();
// Throws Error{kCancelled} when the flag is set; for places between two pieces of work.
void stop_if_interrupted();
// From now on a write to a pipe that nobody reads is an error and not the end of the program: for servers, whose log is
// not their result. Programs started from here end by SIGPIPE as usual.
void outlive_readers();

}  // namespace annulus::cli
