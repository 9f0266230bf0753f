// What the studio is doing now, and who is told when that or anything else changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "annulus/base/clock.h"

namespace annulus::studio {

enum class Stage : std::uint8_t { kIdle, kBackbone, kFeatures, kUpdate, kFit, kAnalysis, kGroups };

// "", "backbone", "features", "update", "fit", "analysis" or "inbox".
std::string_view to_string(Stage stage);

struct WorkStatus {
  Stage stage = Stage::kIdle;
  std::size_t done = 0;
  std::size_t total = 0;  // 0: not known
  std::string detail{};
  std::string error{};  // what keeps the model from being trained; empty: nothing
};

// May be used from any thread. One mutex guards the status and its version; the listener is called without it, so it
// may ask the hub and every other part of the studio.
class EventHub {
 public:
  // `changed` is called after every new version, by the thread that caused it.
  explicit EventHub(std::function<void()> changed) : changed_(std::move(changed)) {}

  // Replaces the status.
  void publish(WorkStatus status);
  // The same, unless the last notice of this stage is less than a tenth of a second old.
  void publish_progress(WorkStatus status);
  // Something besides the status has changed.
  void notify();
  // Takes the error out of the status.
  void clear_error();

  struct Snapshot {
    std::uint64_t version = 0;  // grows with every change
    WorkStatus status{};
  };
  Snapshot current() const;

 private:
  std::function<void()> changed_;
  mutable std::mutex mutex_;  // guards all below
  Snapshot current_;
  SteadyTime published_{};  // when the status was last replaced
};

}  // namespace annulus::studio
