// Signals: Ctrl-C asks running work to stop at its next step; a file that loses its pages ends it with a sentence.
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
// From now on a page of a mapped file that cannot be read any more, since somebody cut the file or its disk failed,
// ends the program with one sentence and the exit code of an error of the system.
void explain_lost_pages();

}  // namespace annulus::cli
