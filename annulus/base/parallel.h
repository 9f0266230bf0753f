// The only threads of the project: a shared pool behind one function.
#pragma once

#include <cstddef>
#include <memory>

namespace annulus {

// The number of processors this process may run on (at least 1).
int hardware_threads();

// A call of something that outlives it: unlike std::function it never allocates.
class TaskBody {
 public:
  template <class Body>
  TaskBody(const Body& body)  // NOLINT(google-explicit-constructor): lambdas are passed as they are
      : body_(std::addressof(body)),
        call_([](const void* object, std::size_t task) { (*static_cast<const Body*>(object))(task); }) {}

  void operator()(std::size_t task) const { call_(body_, task); }

 private:
  const void* body_;
  void (*call_)(const void*, std::size_t);
};

// Calls body(task) once for every task in [0, tasks), on up to `threads` threads (0: hardware_threads()), the calling
// one among them, and returns when all are done. Which thread runs a task is not defined, so divide work by the size of
// the problem, never by thread count. The first exception thrown by a task is rethrown here; tasks not yet started
// are then dropped. A call from inside a task runs its tasks on the calling thread alone. Safe to call from several
// threads at once.
void parallel_for(int threads, std::size_t tasks, TaskBody body);

}  // namespace annulus
