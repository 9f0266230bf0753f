// Tasks on several threads, whose caller hears how far they are and may stop them.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>

#include "annulus/base/parallel.h"
#include "annulus/base/progress.h"

namespace annulus {

// parallel_for that reports on the calling thread: before the first task, after every task that this thread ran, and
// once all are done. Throws Error{kCancelled} when told to stop; tasks that have begun are finished, the others are
// dropped.
template <class Body>
void parallel_for_with_progress(int threads, std::size_t tasks, const std::string& stage,
                                const ProgressCallback& progress, const Body& body) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::size_t> done = 0;
  std::size_t last_reported = 0;  // written by the calling thread alone
  report(progress, {stage, 0, tasks, {}});
  parallel_for(threads, tasks, [&](std::size_t task) {
    body(task);
    const std::size_t finished = ++done;
    if (std::this_thread::get_id() != caller) return;
    last_reported = finished;
    report(progress, {stage, finished, tasks, {}});
  });
  // Other threads may have ended the last task, or all of them.
  if (last_reported != tasks) report(progress, {stage, tasks, tasks, {}});
}

}  // namespace annulus
