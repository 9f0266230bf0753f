// The only threads of the project: a shared pool behind one function.
#pragma once

#include <cstddef>
#include <functional>

namespace annulus {

// The number of processors this process may run on (at least 1).
int hardware_threads();

// Calls body(task) once for every task in [0, tasks), on up to `threads` threads (0: hardware_threads()), the calling
// one among them, and returns when all are done. Which thread runs a task is not defined, so cut work by problem size,
// never by thread count. The first exception thrown by a task is rethrown here; tasks not yet started are then dropped.
// A call from inside a task runs its tasks on the calling thread alone. Safe to call from several threads at once.
void parallel_for(int threads, std::size_t tasks, const std::function<void(std::size_t)>& body);

}  // namespace annulus
