// Tasks on several threads, whose caller hears how far they are and may stop them.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>

#include "annulus/base/parallel.h"
#include "annulus/base/progress.h"

namespace annulus {

// parallel_for that reports after every task of the calling thread. Throws Error{kCancelled} when told to stop; tasks
// that have begun are finished, the others dropped.
template <class Body>
void parallel_for_with_progress(int threads, std::size_t tasks, const std::string& stage,
                                const ProgressCallback& progress, const Body& body) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::size_t> done = 0;
  report(progress, {stage, 0, tasks, {}});
  parallel_for(threads, tasks, [&](std::size_t task) {
    body(task);
    const std::size_t finished = ++done;
    if (std::this_thread::get_id() == caller) report(progress, {stage, finished, tasks, {}});
  });
}

}  // namespace annulus
