// Changes, failures and waking of the studio's worker.
#include "studio_engine/work_schedule.h"

#include <chrono>
#include <utility>

namespace annulus::studio {

void WorkSchedule::note_change(std::string content) {
  {
    const std::lock_guard lock(mutex_);
    content_ = std::move(content);
    last_change_ = now();
    ++wakes_;
  }
  wake_.notify_all();
}

void WorkSchedule::wake() {
  {
    const std::lock_guard lock(mutex_);
    ++wakes_;
  }
  wake_.notify_all();
}

void WorkSchedule::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++wakes_;
  }
  wake_.notify_all();
}

bool WorkSchedule::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

std::string WorkSchedule::content() const {
  const std::lock_guard lock(mutex_);
  return content_;
}

double WorkSchedule::seconds_since_change() const {
  const std::lock_guard lock(mutex_);
  return seconds_since(last_change_);
}

void WorkSchedule::note_failure(std::string content) {
  const std::lock_guard lock(mutex_);
  failed_ = std::move(content);
}

void WorkSchedule::clear_failure() {
  {
    const std::lock_guard lock(mutex_);
    failed_.clear();
    ++wakes_;
  }
  wake_.notify_all();
}

bool WorkSchedule::failed() const {
  const std::lock_guard lock(mutex_);
  return !failed_.empty() && failed_ == content_;
}

std::uint64_t WorkSchedule::wakes() const {
  const std::lock_guard lock(mutex_);
  return wakes_;
}

void WorkSchedule::wait(std::uint64_t seen, double seconds) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return wakes_ != seen; });
}

}  // namespace annulus::studio
