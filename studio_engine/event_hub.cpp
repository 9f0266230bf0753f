// Versions of the status, and notices that do not come too often.
#include "studio_engine/event_hub.h"

#include <array>
#include <utility>

namespace annulus::studio {
namespace {

constexpr double kNoticeSeconds = 0.1;  // between two notices of progress

}  // namespace

std::string_view to_string(Stage stage) {
  constexpr std::array<std::string_view, 7> kNames = {"", "backbone", "features", "update", "fit", "analysis", "inbox"};
  return kNames[static_cast<std::size_t>(stage)];
}

void EventHub::publish(WorkStatus status) {
  {
    const std::lock_guard lock(mutex_);
    ++current_.version;
    current_.status = std::move(status);
    published_ = now();
  }
  changed_();
}

void EventHub::publish_progress(WorkStatus status) {
  {
    const std::lock_guard lock(mutex_);
    if (current_.status.stage == status.stage && seconds_since(published_) < kNoticeSeconds) return;
  }
  publish(std::move(status));
}

void EventHub::notify() {
  {
    const std::lock_guard lock(mutex_);
    ++current_.version;
  }
  changed_();
}

void EventHub::clear_error() {
  {
    const std::lock_guard lock(mutex_);
    ++current_.version;
    current_.status.error.clear();
  }
  changed_();
}

EventHub::Snapshot EventHub::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace annulus::studio
