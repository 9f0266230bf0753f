// When the studio's worker has something to do: what changed and when, which state failed, and whether to stop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "annulus/base/clock.h"

namespace annulus::studio {

// May be used from any thread. One mutex guards everything; no function calls out while it holds it.
class WorkSchedule {
 public:
  // `content` names the state of the project: ProjectState::content_checksum.
  explicit WorkSchedule(std::string content) : content_(std::move(content)), last_change_(now()) {}

  // The project is in another state: the worker wakes.
  void note_change(std::string content);
  // There is something to do although the project is as it was.
  void wake();
  // The worker wakes and must return.
  void stop();
  bool stopping() const;

  std::string content() const;
  double seconds_since_change() const;

  // Work on the state `content` failed: nothing is tried again before the project is in another state.
  void note_failure(std::string content);
  // The failed state may be tried again: the worker wakes.
  void clear_failure();
  bool failed() const;  // whether the present state is the one that failed

  // The number of times that the worker was to wake. Read it before looking for work, and wait() misses nothing.
  std::uint64_t wakes() const;
  // Returns when there was a wake after `seen`, or after `seconds`.
  void wait(std::uint64_t seen, double seconds);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::uint64_t wakes_ = 0;
  bool stopping_ = false;
  std::string content_;
  std::string failed_;  // empty: nothing failed
  SteadyTime last_change_;
};

}  // namespace annulus::studio
