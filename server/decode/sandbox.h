// Takes from this process what a decoder of images has no need of.
#pragma once

#include <cstddef>

namespace annulus::server {

// From here on the process has no files, no network and no other processes: it may read and write one descriptor, take
// and give back memory, look at the clock, and end. Files that a library looks for are refused, any other call ends the
// process by SIGSYS. Cannot be undone. Throws Error{kIo} with the system's reason where the kernel refuses. Does
// nothing in a build with sanitizers, which need other calls.
void confine_process(int descriptor);

// At most so many bytes of memory beside what is shared; no core dumps; ends with the thread that started it. Does
// nothing about memory in a build with sanitizers, which take more addresses than there are.
void limit_process(std::size_t memory_bytes);

}  // namespace annulus::server
